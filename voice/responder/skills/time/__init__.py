"""Skills about time: clocks, the calendar, timers, alarms and reminders."""
