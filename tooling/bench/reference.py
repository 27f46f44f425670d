"""The Python reference on this machine, beside `pnpm bench`: load, first sound, and a frame of its two-thread pipeline.

Needs the packages torch and pocket_tts, and the weights that they download:

    uvx --with pocket-tts python tooling/bench/reference.py [--int8]
"""

import statistics
import sys
import time

from pocket_tts import TTSModel

UTTERANCES = 5
# The sentence that src/measure.ts times.
TEXT = (
    "The road is long, and nobody knows where we are going tonight; "
    "will you come with us, my friend?"
)


def milliseconds_since(start: float) -> float:
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    precision = "int8" if "--int8" in sys.argv else "f32"
    start = time.perf_counter()
    model = TTSModel.load_model(quantize=precision == "int8")
    load = milliseconds_since(start)
    voice = model.get_state_for_audio_prompt("alba")
    first_sounds, frames = [], []
    for utterance in range(1 + UTTERANCES):
        start = time.perf_counter()
        times = [milliseconds_since(start) for _ in model.generate_audio_stream(voice, TEXT)]
        # The first utterance warms up.
        if utterance > 0:
            first_sounds.append(times[0])
            frames.append((times[-1] - times[0]) / (len(times) - 1))
    print("| engine | load | first audio | frame | × real time |\n| --- | ---: | ---: | ---: | ---: |")
    first_sound, frame = statistics.median(first_sounds), statistics.median(frames)
    print(f"| reference, {precision} | {load:.0f} | {first_sound:.0f} | {frame:.1f} | {80 / frame:.2f} |")


main()
