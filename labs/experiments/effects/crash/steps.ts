import type { Store } from 'assize/internal/stores';
import type { ReportPoint } from './shop.ts';

/** The steps of a process that recovers the work of another one. */
export const STEPS = [
  'before it writes something',
  'when that is written',
  'before it asks a sink',
  'when the sink has answered',
  'before it calls a sink',
  'while the sink does that',
  'when the sink has done that',
] as const;

/** One of them, as often as it comes to it: the first time is 1. */
export interface Step {
  readonly kind: (typeof STEPS)[number];
  readonly nth: number;
}

/** The store calls of a process that change the store. */
const WRITES: ReadonlySet<unknown> = new Set(['commit', 'logEffects']);

/** Tells every step of a process before it is gone on from: of its store, and of its tools. */
export class Stepping {
  readonly #tell: (step: Step) => void;
  readonly #times = new Map<Step['kind'], number>();

  constructor(tell: (step: Step) => void) {
    this.#tell = tell;
  }

  /** For `toolsOf`. */
  readonly at: ReportPoint = (place) => {
    if (place === 'ask') this.#told('before it asks a sink');
    else if (place === 'asked') this.#told('when the sink has answered');
    else if (place === 'done' || place === 'undone') this.#told('when the sink has done that');
    else {
      this.#told('before it calls a sink');
      // Another process makes the call.
      this.#told('while the sink does that');
    }
  };

  over(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        if (!WRITES.has(name)) return member.bind(target);
        return async (...args: unknown[]) => {
          this.#told('before it writes something');
          const answer: unknown = await Reflect.apply(member, target, args);
          this.#told('when that is written');
          return answer;
        };
      },
    });
  }

  #told(kind: Step['kind']): void {
    const nth = (this.#times.get(kind) ?? 0) + 1;
    this.#times.set(kind, nth);
    this.#tell({ kind, nth });
  }
}
