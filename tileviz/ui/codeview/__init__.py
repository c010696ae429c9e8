"""The Code page: what TileLang makes of a schedule, text beside text, linked, counted and
compared."""
