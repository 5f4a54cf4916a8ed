import { isInstance, type Json, thrownText } from 'assize/internal/base';
import { canonicalize, copyJson } from 'assize/internal/canon';
import { type CallContext, DidNothing, declareTool, type Tool } from 'assize/internal/effects';
import type { Random } from 'assize/internal/oracle';
import type { RecordedToolCall } from 'assize/internal/runtime';
import { type SimulatedCall, simulated, type ToolSimulator } from './simulators.ts';

/** The reason why no stand-in can answer a call. */
export interface CallFault {
  readonly kind: 'no_answer' | 'failed';
  readonly tool: string;
  readonly input: Json;
  readonly detail: string;
}

export interface StandInParts {
  /** The calls of the record, in the order in which they answer. */
  readonly recorded: readonly RecordedToolCall[];
  readonly simulators: { readonly [tool: string]: ToolSimulator };
  readonly state: () => Json;
  /** The chance of one call, by a name that equal calls of equal samples share. */
  readonly random: (name: string) => Random;
  /** Called once for the first call without an answer. */
  readonly onFault: (fault: CallFault) => void;
}

/** The calls of one sample, answered by the record and by simulators. */
export class StandIns {
  readonly calls: SimulatedCall[] = [];
  readonly #parts: StandInParts;
  readonly #recorded: Map<string, RecordedToolCall[]>;
  /** The number of equal calls so far. */
  readonly #counts: Map<string, number> = new Map();
  /** Answers by idempotency key: a repeated call is not a second one. */
  readonly #answers: Map<string, Json> = new Map();

  constructor(parts: StandInParts) {
    this.#parts = parts;
    this.#recorded = Map.groupBy(
      parts.recorded.filter(({ outcome }) => outcome !== 'unknown'),
      keyOf,
    );
  }

  /**
   * A tool with the same declaration. Of the real tool's functions only those that describe a call
   * are kept: its scopes and costs. `execute`, `compensate`, `mitigate`, `reconcile`, `plan` and
   * batches are not.
   */
  toolFor({ name, spec, class: sort }: Tool): Tool {
    const {
      description,
      input,
      reads,
      writes,
      uncompensated,
      sensitive,
      parallel,
      channel,
      cost,
      undoCost,
    } = spec;
    return declareTool({
      ...{ name, input, class: sort ?? 'read' },
      ...withoutUndefined({
        description,
        reads,
        writes,
        uncompensated,
        sensitive,
        parallel,
        channel,
        cost,
        undoCost,
      }),
      execute: (value: Json, call: CallContext) => this.#execute(name, value, call),
      ...(spec.compensate !== undefined && { compensate: () => ({ undone: 'all' as const }) }),
      ...(spec.reconcile !== undefined && {
        reconcile: (_: Json, { key }: CallContext) => this.#outcomeOf(key),
      }),
    }) as Tool;
  }

  #outcomeOf(key: string): { happened: true; result: Json } | { happened: false } {
    const result = this.#answers.get(key);
    return result === undefined ? { happened: false } : { happened: true, result };
  }

  #execute(tool: string, given: unknown, { key }: CallContext): Json {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const input = copyJson(given, { foreign: true });
    const answer = this.#answer(tool, input);
    this.#answers.set(key, answer);
    return answer;
  }

  /** @throws DidNothing if the call did nothing, or has no answer */
  #answer(tool: string, input: Json): Json {
    const recorded = this.#recorded.get(keyOf({ tool, input }))?.shift();
    const from = recorded === undefined ? 'simulator' : 'record';
    try {
      const answer = recorded === undefined ? this.#simulated(tool, input) : answerOf(recorded);
      this.calls.push({ tool, input, from, answer });
      return answer;
    } catch (error) {
      const isRefusal = isInstance(error, DidNothing);
      if (isRefusal) this.calls.push({ tool, input, from });
      const fault = isInstance(error, NoAnswer) ? 'no_answer' : 'failed';
      if (isRefusal) throw error;
      this.#parts.onFault({ kind: fault, tool, input, detail: thrownText(error) });
      throw new DidNothing(thrownText(error), { final: true });
    }
  }

  #simulated(tool: string, input: Json): Json {
    const { simulators, state, random } = this.#parts;
    const key = keyOf({ tool, input });
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    const chance = random(`${count} ${key}`);
    const simulator = Object.hasOwn(simulators, tool) ? simulators[tool] : undefined;
    const context = { state: state(), calls: [...this.calls], random: () => fraction(chance) };
    const answer = simulator === undefined ? undefined : simulated(simulator, input, context);
    if (answer !== undefined) return answer;
    const why =
      simulator === undefined
        ? 'no simulator is declared for the tool'
        : 'its simulator has no answer';
    throw new NoAnswer(`The record has no such call left, and ${why}.`);
  }
}

class NoAnswer extends Error {}

function answerOf({ outcome, answer }: RecordedToolCall): Json {
  if (outcome === 'did_nothing')
    throw new DidNothing('the recorded call did nothing', { final: true });
  return answer as Json;
}

function keyOf({ tool, input }: Pick<RecordedToolCall, 'tool' | 'input'>): string {
  return `${tool} ${canonicalize(input, { foreign: true })}`;
}

/** A number from 0 up to 1, of 48 random bits. */
function fraction(random: Random): number {
  const bytes = random.bytes(6);
  return Buffer.from(bytes).readUIntBE(0, 6) / 2 ** 48;
}

/** The members that are present. */
function withoutUndefined<T extends object>(
  members: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as never;
}
