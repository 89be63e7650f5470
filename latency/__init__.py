"""What a turn cost, whether that is allowed, and how it is known: reads recordings and runs, never drives anything."""
