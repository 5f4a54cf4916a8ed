/** The answer of the bank to a call: it refuses, or it pays and the answer is lost. */
export type BankFault = 'none' | 'refuse' | 'lose';

export interface Booking {
  readonly key: string;
  readonly tool: string;
  readonly input: object;
}

/** A bank that outlives processes. It books each key once. */
export class Bank {
  readonly bookings: Booking[] = [];
  readonly #faults: BankFault[];
  readonly #keys = new Set<string>();
  /** Calls with a key that was booked before. */
  repeated = 0;

  constructor(faults: readonly BankFault[]) {
    this.#faults = [...faults];
  }

  nextFault(): BankFault {
    return this.#faults.shift() ?? 'none';
  }

  do(key: string, tool: string, input: object): void {
    if (this.#keys.has(key)) {
      this.repeated++;
      return;
    }
    this.#keys.add(key);
    this.bookings.push({ key, tool, input: structuredClone(input) });
  }
}
