"""The responder's skills, one module per group."""

from voice.responder.skills import arithmetic, clock, courtesies, lists, memory, recital, reminders, timers, units
from voice.responder.skills.skill import Skill

# If two skills match the same words, the earlier one wins.
SKILLS: tuple[Skill, ...] = (
    *timers.SKILLS, *reminders.SKILLS, *clock.SKILLS, *units.SKILLS, *arithmetic.SKILLS, *recital.SKILLS,
    *lists.SKILLS, *courtesies.SKILLS, *memory.SKILLS,
)  # fmt: skip
