import { type StoppedBy, stoppedText } from './stops.ts';

/** The kinds of problems of a domain. Warnings leave the report `ok`. */
export type ProblemKind =
  /** `defineDomain` refuses the domain. */
  | 'invalid_domain'
  /**
   * A function uses a clock, randomness, the environment or the network, or the same inputs gave
   * two results.
   */
  | 'impure'
  /** A function changed its arguments. */
  | 'mutates_arguments'
  /** A function returned a promise. */
  | 'asynchronous'
  /**
   * A function threw an error without a readable message: a TypeError or the like, or a value that
   * is not an Error.
   */
  | 'throws'
  /** A read or write outside the footprint. */
  | 'outside_footprint'
  /** A pointer of `with` leads out of `reads`. */
  | 'with_outside_reads'
  /** An invariant wrote to the state. */
  | 'writes_state'
  /** An invariant returned neither pass, reject nor escalate. */
  | 'nonsense'
  /** The result depends on the order in which keys were written. */
  | 'key_order'
  /** The initial state violates an invariant. */
  | 'broken_initial'
  /** An escalated proposal was approved and does not pass. */
  | 'approval_does_not_pass'
  /** The approved changes differ from those that were submitted for approval. */
  | 'approval_differs'
  /** The action of `onFailure` cannot be proposed. */
  | 'failure_not_proposed'
  /** The kernel's incremental check differs from a check of all rules on the whole state. */
  | 'evaluation_differs'
  /** A schema returns a value that is not JSON and cannot be recorded. */
  | 'not_json'
  /** Warning: the schema accepts values that no entry can store. */
  | 'loose_schema'
  /** Warning: an action returned a state that does not fit the schema. */
  | 'bad_result'
  /** Warning: no state violated the invariant, or all did, or it had nothing to check. */
  | 'never_violated'
  | 'always_fails'
  | 'never_judged'
  /**
   * Warning: a process that no role performs or no action belongs to, or a footprint that no action
   * touched.
   */
  | 'unused'
  /**
   * Warning: no counselor of the kind was found, or none that could choose when contradicting facts
   * need a human decision.
   */
  | 'no_counselor'
  /** Warning: no value was found that the schema accepts. */
  | 'no_values'
  /** Warning: the action was never committed. */
  | 'never_done';

/** The case that causes the problem. */
export interface Counterexample {
  readonly state?: unknown;
  readonly action?: string;
  readonly role?: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly args?: unknown;
  /** For an `each` invariant, the keys that the stars match, if it names them. */
  readonly detail?: string;
}

export interface DomainProblem {
  readonly kind: ProblemKind;
  readonly level: 'error' | 'warning';
  /** Such as `action spend`, `invariant BUDGET_CAP`, `process spend`, `initial state`. */
  readonly where: string;
  readonly sentence: string;
  readonly counterexample?: Counterexample;
  /** Number of steps by which the counterexample was shrunk. */
  readonly shrunk: number;
}

export interface DomainReport {
  readonly domain: string;
  /** True if no problem is an error. There may be warnings. */
  readonly ok: boolean;
  /** Errors first. */
  readonly problems: readonly DomainProblem[];
  readonly seed: number;
  readonly runs: number;
  /** The adjudicated proposals, by ruling. */
  readonly proposals: {
    readonly committed: number;
    readonly escalated: number;
    readonly rejected: number;
  };
  /** For each invariant that escalated a proposal: the work that such a proposal stops. */
  readonly stops: readonly StoppedBy[];
  /** Number of states on which every invariant was checked. */
  readonly states: number;
  formatReport(): string;
}

/** Text for a terminal or a failed test. */
export function formatReport(report: Omit<DomainReport, 'formatReport'>): string {
  const errors = report.problems.filter(({ level }) => level === 'error').length;
  const warnings = report.problems.length - errors;
  const counted = [count(errors, 'error'), count(warnings, 'warning')].filter(
    (text) => text !== undefined,
  );
  const { committed, escalated, rejected } = report.proposals;
  return [
    `The domain ${report.domain}: ${counted.length === 0 ? 'nothing found' : counted.join(', ')}.`,
    ...report.problems.map((problem, i) => `\n${i + 1}. ${textOf(problem)}`),
    ...(report.stops.length === 0 ? [] : ['', ...report.stops.map(stoppedText)]),
    `\nseed ${report.seed}, ${report.runs} runs: ${committed} committed, ${escalated} escalated, ${rejected} rejected; invariants checked on ${report.states} states`,
  ].join('\n');
}

function count(n: number, what: string): string | undefined {
  return n === 0 ? undefined : `${n} ${what}${n === 1 ? '' : 's'}`;
}

function textOf({ kind, level, where, sentence, counterexample: example }: DomainProblem): string {
  const lines = [`${where}: ${sentence} (${level === 'warning' ? 'warning, ' : ''}${kind})`];
  if (example === undefined) return lines[0] as string;
  const { state, action, role, args, detail } = example;
  if (state !== undefined) lines.push(`state   ${json(state)}`);
  if (action !== undefined) lines.push(`action  ${action}`);
  if (role !== undefined)
    lines.push(`role    ${role.name}${json(role.params) === '{}' ? '' : ` ${json(role.params)}`}`);
  if (args !== undefined) lines.push(`args    ${json(args)}`);
  if (detail !== undefined) lines.push(`says    ${detail}`);
  return lines.join('\n   ');
}

/** Maximum length of a displayed value; states of real domains may be large. */
const VALUE_MAX = 2_000;

function json(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= VALUE_MAX ? text : `${text.slice(0, VALUE_MAX)}…`;
}
