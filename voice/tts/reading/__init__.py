"""Reading written text aloud: numbers, money, dates, times, units, addresses, codes and Markdown in words."""
