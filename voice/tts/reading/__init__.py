"""How written text is read aloud: numbers, money, dates, times, units, addresses, codes and Markdown in words."""
