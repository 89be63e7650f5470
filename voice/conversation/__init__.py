"""How a call goes on when nobody speaks, how it ends, and what is kept of its words."""
