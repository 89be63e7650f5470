"""`scripted:whisper`: genuine CTranslate2 Whisper models with made-up weights, for tests and benchmarks.

Every pass runs faster-whisper's whole path at the true cost of the shape: features, encoder, decoder. What the model
"hears" is scripted, in one of two ways:

* A model with a fixed text (`model_folder.build`) emits that text whatever it is given.
* A model with a script (`model.build_for_fixtures`) knows the recordings of fixtures and their labels.
  `model.ScriptedWhisperModel` recognises by its exact samples which recording a piece of audio comes from, and so which
  words have been spoken in it so far; unknown audio gives none. It generates about as many tokens as Whisper would
  spend on those words, and puts the words in their place. A word at the very end of the audio is misheard at a stated
  rate, and right when more of it is there. Errors are scripted too, so a word error rate of such a model says nothing.

    folder = build_for_fixtures(Path("model"), ["samples/commands"], size="tiny", misheard=0.2, seed=1)
    ScriptedWhisperModel(str(folder), device="cpu", compute_type="int8")  # in place of faster_whisper.WhisperModel
    SharedWhisper.load(folder, model_class=ScriptedWhisperModel)          # this project's recogniser

    voice replay --pipeline local --set asr.engine=scripted --set asr.model=FOLDER   # with a script
    voice replay --pipeline local --set asr.model=FOLDER                             # with a fixed text

pipecat's own service takes such a model when the module attribute `pipecat.services.whisper.stt.WhisperModel` is
`ScriptedWhisperModel` and its `settings.model` the folder. On the command line:

    python -m pipelines.bench.scripted OUT --size base --fixtures samples/commands samples/units

Audio must arrive bit by bit: 16 kHz, 16 bits, neither resampled nor mixed with anything; silence around it is fine.
Every such folder's name begins with "scripted:", and nothing may be reported under another one.
"""

SCRIPT = "script.json"
"""The file in a model folder that makes it one for `ScriptedWhisperModel`."""
