/** The proposals that run, in memory that the thread of the watchdog reads. */
export interface SharedSlots {
  /** `[beats, stop, length of slot 0, length of slot 1, …]`. */
  readonly header: Int32Array;
  readonly labels: Uint8Array;
}

/** The proposals that can run under a label at once. Others run without one. */
const SLOTS = 256;
const SLOT_BYTES = 1_024;

const BEATS = 0;
const STOP = 1;
const FIRST_LENGTH = 2;

/** The label of a proposal: the members of its row, and the key. Names are cut to fit. */
export interface Label {
  readonly key: string;
  readonly trajectory: string;
  readonly principal: string;
  readonly action: string;
}

/** A character takes at most 6 bytes in JSON. */
const NAME_MAX = 40;

function cut(name: string): string {
  return name.slice(0, NAME_MAX).toWellFormed();
}

export function newSlots(): SharedSlots {
  return {
    header: new Int32Array(new SharedArrayBuffer(4 * (FIRST_LENGTH + SLOTS))),
    labels: new Uint8Array(new SharedArrayBuffer(SLOTS * SLOT_BYTES)),
  };
}

/** The side of the watched thread. */
export class SlotWriter {
  readonly #slots: SharedSlots;
  readonly #encoder = new TextEncoder();
  readonly #free: number[] = Array.from({ length: SLOTS }, (_, n) => SLOTS - 1 - n);

  constructor(slots: SharedSlots) {
    this.#slots = slots;
  }

  beat(): void {
    Atomics.add(this.#slots.header, BEATS, 1);
  }

  stop(): void {
    Atomics.store(this.#slots.header, STOP, 1);
    Atomics.notify(this.#slots.header, STOP);
  }

  /** Returns the function that ends the label. */
  begin(label: Label): () => void {
    const slot = this.#free.pop();
    if (slot === undefined) return () => undefined;
    const { header, labels } = this.#slots;
    const text = JSON.stringify({
      ...label,
      trajectory: cut(label.trajectory),
      principal: cut(label.principal),
      action: cut(label.action),
    });
    const { written } = this.#encoder.encodeInto(text, labels.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES));
    Atomics.store(header, FIRST_LENGTH + slot, written);
    return () => {
      Atomics.store(header, FIRST_LENGTH + slot, 0);
      this.#free.push(slot);
    };
  }
}

/** The side of the watching thread. */
export class SlotReader {
  readonly #slots: SharedSlots;

  constructor(slots: SharedSlots) {
    this.#slots = slots;
  }

  get beats(): number {
    return Atomics.load(this.#slots.header, BEATS);
  }

  /** Waits so long. Returns false if the watch was stopped. */
  rest(ms: number): boolean {
    Atomics.wait(this.#slots.header, STOP, 0, ms);
    return Atomics.load(this.#slots.header, STOP) === 0;
  }

  /** The labels of the proposals that run. The watched thread must be blocked. */
  labels(): readonly Label[] {
    const { header, labels } = this.#slots;
    const decoder = new TextDecoder();
    const found: Label[] = [];
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const length = Atomics.load(header, FIRST_LENGTH + slot);
      // A copy: a decoder does not read shared memory.
      const bytes = labels.slice(slot * SLOT_BYTES, slot * SLOT_BYTES + length);
      if (length > 0) found.push(JSON.parse(decoder.decode(new Uint8Array(bytes))) as Label);
    }
    return found;
  }
}
