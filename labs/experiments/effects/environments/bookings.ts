import { declareTool, type Tool } from 'assize/internal/effects';
import { z } from 'zod';
import type { Environment, Task, TaskVerdict } from '../task.ts';

// Created once for all instances: the schema compiles its input check.
const BOOKING = z.strictObject({ seat: z.string() });

/** `count` seats, each to be booked once, in order. A booking that is made twice is paid twice. */
export function bookingsTask(name: string, count: number): Task {
  return {
    name,
    steps: Array.from({ length: count }, (_, n) => ({
      tool: 'seats.book',
      input: { seat: `seat-${n}` },
    })),
    open: () => new Bookings(count),
  };
}

/** A sink that takes each key once, with a log of its bookings. */
class Bookings implements Environment {
  readonly tools: readonly Tool[];
  readonly #count: number;
  /** Seats by key. */
  readonly #booked = new Map<string, string>();
  #cancelled = 0;

  constructor(count: number) {
    this.#count = count;
    this.tools = [
      declareTool({
        name: 'seats.book',
        input: BOOKING,
        class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
        writes: ['seat:{seat}'],
        execute: ({ seat }, { key }) => {
          this.#booked.set(key, seat);
          return null;
        },
        compensate: (_input, _result, { key }) => {
          if (this.#booked.delete(key)) this.#cancelled++;
          return { undone: 'all' };
        },
      }),
    ];
  }

  snapshot(): undefined {
    return undefined;
  }

  restore(): void {}

  judge(): TaskVerdict {
    const timesOf = (n: number): number =>
      [...this.#booked.values()].filter((seat) => seat === `seat-${n}`).length;
    const times = Array.from({ length: this.#count }, (_, n) => timesOf(n));
    return {
      correct: times.every((each) => each === 1),
      expected: this.#count,
      present: times.filter((each) => each > 0).length,
      wrong: times.filter((each) => each > 1).length,
      contaminated: this.#cancelled > 0,
    };
  }
}
