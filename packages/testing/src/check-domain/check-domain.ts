import { type Json, thrownText } from 'assize/internal/base';
import { copyJson, readInstant, WORLD_LIMITS } from 'assize/internal/canon';
import {
  type Domain,
  type DomainSpec,
  defineDomain,
  type Role,
  requireOwnDomain,
} from 'assize/internal/kernel';
import fc from 'fast-check';
import type { z } from 'zod';
import { type CheckDomainOptions, requireNamesOf, requireOptions } from './options.ts';
import {
  type Counterexample,
  type DomainProblem,
  type DomainReport,
  formatReport,
  type ProblemKind,
} from './report.ts';
import { shrink } from './smaller.ts';
import { type Case, exampleOf, type FoundProblem, fits, type Trial, Trials } from './trials.ts';
import { fixedNames, NAMES, poolOf, valuesOf } from './values.ts';

const WARNINGS: ReadonlySet<ProblemKind> = new Set<ProblemKind>([
  'never_violated',
  'always_fails',
  'never_judged',
  'unused',
  'no_counselor',
  'no_values',
  'never_done',
  'loose_schema',
  'bad_result',
]);

const COUNTED: ReadonlySet<ProblemKind> = new Set<ProblemKind>([
  'never_violated',
  'always_fails',
  'never_judged',
]);

/**
 * Problems that a domain may rely on never to occur. On a state that no proposal reached, they are
 * only warnings.
 */
const RARE: ReadonlySet<ProblemKind> = new Set<ProblemKind>(['throws', 'with_outside_reads']);

/**
 * Maximum number of states that are kept as starting points, and how many of them are generated
 * from the schema.
 */
const STATES_MAX = 100;
const INVENTED_MAX = 60;
const LATEST = 5;
/** Maximum number of draws until a value fits. */
const DRAWS_MAX = 30;
/** Maximum number of proposals that are repeated at the end, in another order. */
const AGAIN_MAX = 100;

/**
 * Searches for problems of a domain by running it, on states that its schema accepts and on states
 * reached from its initial one. Each problem has the smallest case found that shows it.
 *
 * A problem that needs a rare state, or an argument of a certain form, may be missed: set `states`
 * and `args`. An error on a state that no proposal reached is only a warning.
 *
 * Does not throw for a faulty domain. A domain that `defineDomain` refuses is reported as a problem
 * like others.
 *
 * @throws ArgumentError `bad_argument`, also for an option, action, role, parameter or kind of
 * counselor that does not exist
 */
export function checkDomain<D extends Domain<any, any, any>>(
  domain: D,
  options?: CheckDomainOptions<D>,
): DomainReport;
export function checkDomain(
  domain: DomainSpec<any, any>,
  options?: CheckDomainOptions,
): DomainReport;
export function checkDomain(
  domain: Domain<any, any, any> | DomainSpec<any, any>,
  options: CheckDomainOptions = {},
): DomainReport {
  requireOptions(options);
  const { seed = 1, runs = 500 } = options;
  const defined = definedOf(domain);
  if ('sentence' in defined) {
    const problem: DomainProblem = {
      kind: 'invalid_domain',
      level: 'error',
      where: 'domain',
      shrunk: 0,
      ...defined,
    };
    const given: unknown = (domain as { name?: unknown } | null | undefined)?.name;
    const name = typeof given === 'string' ? given : 'without a name';
    return reportOf({
      domain: name,
      problems: [problem],
      seed,
      runs,
      proposals: NONE,
      stops: [],
      states: 0,
    });
  }
  requireOwnDomain(defined.domain);
  requireNamesOf(defined.domain, options);
  return new Check(defined.domain, { ...options, seed, runs }).report();
}

const NONE = { committed: 0, escalated: 0, rejected: 0 } as const;

function definedOf(
  given: Domain<any, any, any> | DomainSpec<any, any>,
): { domain: Domain } | { sentence: string } {
  try {
    return { domain: 'rulesByPath' in given ? given : defineDomain<any, any>(given) };
  } catch (error) {
    return { sentence: thrownText(error) };
  }
}

function reportOf(report: Omit<DomainReport, 'formatReport' | 'ok'>): DomainReport {
  const problems = [...report.problems].sort(
    (a, b) => Number(a.level === 'warning') - Number(b.level === 'warning'),
  );
  const whole = { ...report, problems, ok: problems.every(({ level }) => level === 'warning') };
  return { ...whole, formatReport: () => formatReport(whole) };
}

/** A state to propose on, and whether proposals can reach it. */
interface ReachedState {
  readonly state: Json;
  readonly reached: boolean;
}

class Check {
  readonly #domain: Domain;
  readonly #options: CheckDomainOptions & { readonly seed: number; readonly runs: number };
  readonly #trials: Trials;
  readonly #problems: Map<string, DomainProblem> = new Map();
  readonly #random: () => number;
  readonly #proposals: { committed: number; escalated: number; rejected: number } = { ...NONE };
  readonly #asked: { readonly case: Case; readonly did: string }[] = [];
  /** The actions that were committed at least once. */
  readonly #done: Set<string> = new Set();
  readonly #refusals: Map<string, string> = new Map();
  /**
   * By invariant: the number of states that passed and failed, if the invariant had something to
   * check.
   */
  readonly #judged: Map<string, { passed: number; failed: number }> = new Map();
  readonly #fixed: ReadonlySet<string>;
  #states = 0;

  constructor(
    domain: Domain,
    options: CheckDomainOptions & { readonly seed: number; readonly runs: number },
  ) {
    this.#domain = domain;
    this.#options = options;
    this.#fixed = fixedNames(domain.state);
    this.#random = randomOf(options.seed);
    const at = readInstant(options.at) ?? '2026-06-01T12:00:00.000000Z';
    this.#trials = new Trials(domain, at, counselorNames(domain, options.counselors));
  }

  report(): DomainReport {
    this.#checkInitial();
    const places = this.#beginnings();
    for (const { state, reached } of places) this.#judge(state, reached);
    const good = places.filter(({ state }) =>
      this.#trials.ofState(state).vector.every(({ result }) => result === 'pass'),
    );
    if (good.length > 0) this.#walk(good);
    this.#askAgain();
    this.#judgeCounts();
    this.#judgeUse(good.length > 0);
    this.#judgeSchemas();
    this.#judgeMemory();
    const { seed, runs } = this.#options;
    const problems = this.#withoutConsequences();
    return reportOf({
      domain: this.#domain.name,
      problems,
      seed,
      runs,
      proposals: this.#proposals,
      stops: this.#trials.stops.list(),
      states: this.#states,
    });
  }

  // ── states ──

  #checkInitial(): void {
    const { initial } = this.#domain;
    if (initial === undefined) return;
    const { found, vector } = this.#trials.ofState(initial as Json);
    for (const { invariant_id, result, detail } of vector) {
      // An invariant that cannot check a state is a separate problem.
      if (result === 'pass' || found.some(({ where }) => where === `invariant ${invariant_id}`))
        continue;
      const sentence = `${invariant_id} does not pass on it (${result}: ${detail}), so no trajectory can be created`;
      this.#note({ kind: 'broken_initial', where: 'initial state', sentence }, { state: initial });
    }
  }

  /** The initial state, the given states, and some that the schema accepts. */
  #beginnings(): ReachedState[] {
    const { initial } = this.#domain;
    const given = [
      ...(initial === undefined ? [] : [initial]),
      ...(this.#options.states ?? []),
    ] as Json[];
    for (const state of given) {
      if (!fits(this.#domain, state))
        this.#note(
          {
            kind: 'no_values',
            where: 'states',
            sentence: 'a state of the option `states` does not fit the schema',
          },
          { state },
        );
    }
    const invented = this.#draw(valuesOf(this.#domain.state, 'output'), INVENTED_MAX, (state) =>
      fits(this.#domain, state),
    );
    if (invented.length === 0 && given.length === 0)
      this.#note({
        kind: 'no_values',
        where: 'state',
        sentence: 'no state was found that fits the schema; pass some in the option `states`',
      });
    const fitting = given.filter((state) => fits(this.#domain, state));
    return [
      ...fitting.map((state) => ({ state: asJson(state), reached: true })),
      // Without a known starting state, any state may be reachable.
      ...invented.map((state) => ({ state: asJson(state), reached: fitting.length === 0 })),
    ].filter((place): place is ReachedState => place.state !== undefined);
  }

  #judge(state: Json, reached: boolean): void {
    this.#states++;
    const { found, vector } = this.#trials.ofState(state);
    for (const [i, { invariant_id, result, detail = '' }] of vector.entries()) {
      const members = this.#domain.rules[i]?.member?.segments;
      if (members !== undefined && !hasMember(state, members)) continue;
      const counts = this.#countsOf(invariant_id);
      if (result === 'pass') counts.passed++;
      else if (
        !found.some(
          ({ where, detail: of }) => where === `invariant ${invariant_id}` && of === detail,
        )
      )
        counts.failed++;
    }
    for (const problem of found) {
      const shows = (smaller: Json): boolean =>
        fits(this.#domain, smaller) &&
        this.#trials.ofState(smaller).found.some((other) => isSame(other, problem));
      this.#found(problem, reached, () => {
        const { value, steps } = shrink(state, shows);
        const shown =
          this.#trials.ofState(value).found.find((other) => isSame(other, problem)) ?? problem;
        return {
          found: shown,
          example: {
            state: value,
            ...(shown.detail === undefined ? {} : { detail: shown.detail }),
          },
          steps,
        };
      });
    }
  }

  #countsOf(id: string): { passed: number; failed: number } {
    const counts = this.#judged.get(id) ?? { passed: 0, failed: 0 };
    this.#judged.set(id, counts);
    return counts;
  }

  // ── proposals ──

  /** Proposes actions, each on a state that earlier proposals reached. */
  #walk(places: ReachedState[]): void {
    const names = Object.keys(this.#domain.actions);
    if (names.length === 0) return;
    for (let run = 0; run < this.#options.runs; run++) {
      // Every other proposal uses a reachable state.
      const reached = places.filter((place) => place.reached);
      const from = run % 4 !== 0 && reached.length > 0 ? reached : places;
      // Mostly one of the latest states: some rules apply only after several steps.
      const place = this.#oneOf(run % 3 === 0 ? from : from.slice(-LATEST)) as ReachedState;
      const proposed = this.#propose(place.state, this.#oneOf(names) as string);
      if (proposed === undefined) continue;
      const trial = this.#trials.ofCase(proposed);
      this.#count(proposed, trial);
      for (const problem of trial.found) this.#foundInCase(problem, proposed, place.reached);
      if (trial.next === undefined) continue;
      this.#judge(trial.next, place.reached);
      const next = { state: trial.next, reached: place.reached };
      if (places.length < STATES_MAX) places.push(next);
      else places[Math.floor(this.#random() * places.length)] = next;
    }
  }

  #propose(state: Json, action: string): Case | undefined {
    const { process, args: schema } = this.#domain.actions[action] as {
      process: string;
      args: z.ZodType;
    };
    const roles = Object.entries(this.#domain.roles).filter(([, role]) =>
      role.processes.includes(process),
    );
    if (roles.length === 0) return undefined;
    const [name, role] = this.#oneOf(roles) as [string, Role];
    const pool = poolOf(state, this.#fixed);
    const values = this.#options.args?.[action] ?? valuesOf(schema, 'input', pool);
    const takes = (value: unknown): boolean => schema.safeParse(value).success;
    const [args] = this.#draw(values, 1, takes);
    if (args === undefined) {
      const sentence =
        'no arguments were found that its schema accepts; pass some in the option `args`';
      this.#note({ kind: 'no_values', where: `action ${action}`, sentence });
      return undefined;
    }
    const parsed: unknown = (schema.safeParse(args) as { data?: unknown }).data;
    if (asJson(parsed) === undefined) {
      const sentence = `its schema parses the arguments to a value that is not JSON (${typeNamed(parsed)}), so it can never be proposed`;
      this.#note({ kind: 'not_json', where: `action ${action}`, sentence }, { action, args });
      return undefined;
    }
    return {
      state,
      action,
      role: { name, params: this.#params(name, role, pool.texts) },
      args: args as Json,
    };
  }

  #params(
    name: string,
    { params = [] }: Role,
    texts: readonly string[],
  ): Readonly<Record<string, string>> {
    const given = this.#options.roles?.[name];
    if (given !== undefined && given.length > 0)
      return this.#oneOf(given) as Readonly<Record<string, string>>;
    const met = texts.filter((text) => text !== '' && text === text.normalize('NFC'));
    // Prefers one name, so that its changes accumulate.
    const known = this.#random() < 0.7 ? [NAMES[0]] : [...NAMES, ...met];
    return Object.fromEntries(params.map((param) => [param, this.#oneOf(known) as string]));
  }

  #count({ action, ...rest }: Case, { outcome, refusal, did, stoppedBy }: Trial): void {
    if (stoppedBy !== undefined) this.#countsOf(stoppedBy).failed++;
    if (outcome !== undefined) this.#proposals[outcome]++;
    if (outcome === 'committed' || outcome === 'escalated') this.#done.add(action);
    else if (refusal !== undefined) this.#refusals.set(action, refusal);
    if (did !== undefined && this.#asked.length < AGAIN_MAX)
      this.#asked.push({ case: { action, ...rest }, did });
  }

  #foundInCase(problem: FoundProblem, found: Case, reached: boolean): void {
    this.#found(problem, reached, () => {
      const shown = (of: Case): FoundProblem | undefined =>
        this.#trials.ofCase(of).found.find((other) => isSame(other, problem));
      let now = found;
      let steps = 0;
      for (const part of ['args', 'state', 'args'] as const) {
        const smaller = shrink(now[part] as Json, (value) => {
          if (part === 'state' && !fits(this.#domain, value)) return false;
          return shown({ ...now, [part]: value }) !== undefined;
        });
        now = { ...now, [part]: smaller.value };
        steps += smaller.steps;
      }
      if (this.#options.roles?.[now.role.name] === undefined) {
        const smaller = shrink(
          now.role.params,
          (params) => shown({ ...now, role: { ...now.role, params } }) !== undefined,
        );
        now = { ...now, role: { ...now.role, params: smaller.value } };
        steps += smaller.steps;
      }
      return { found: shown(now) ?? problem, example: exampleOf(now), steps };
    });
  }

  /**
   * Repeats the proposals from last to first: a function that keeps state between calls now returns
   * another result.
   */
  #askAgain(): void {
    for (const { case: asked, did } of this.#asked.reverse()) {
      const now = this.#trials.ofCase(asked).did;
      if (now === undefined || now === did) continue;
      const sentence = `it gave another result for the same proposal later, so it keeps state between calls: ${did}, then ${now}`;
      this.#note({ kind: 'impure', where: `action ${asked.action}`, sentence }, exampleOf(asked));
    }
  }

  // ── never seen ──

  #judgeCounts(): void {
    for (const { id } of this.#domain.rules) {
      const { passed, failed } = this.#judged.get(id) ?? { passed: 0, failed: 0 };
      const where = `invariant ${id}`;
      if (passed + failed === 0)
        this.#note({
          kind: 'never_judged',
          where,
          sentence: 'no tried state has an item that it checks',
        });
      else if (failed === 0)
        this.#note({
          kind: 'never_violated',
          where,
          sentence: `all ${passed} checked states pass; can it ever refuse?`,
        });
      else if (passed === 0)
        this.#note({
          kind: 'always_fails',
          where,
          sentence: `none of the ${failed} checked states passes`,
        });
    }
  }

  #judgeUse(walked: boolean): void {
    const { processes, roles, actions } = this.#domain;
    const performed = new Set(Object.values(roles).flatMap((role) => role.processes));
    const acted = new Set(Object.values(actions).map(({ process }) => process));
    for (const [name, { reads = [], writes = [] }] of Object.entries(processes)) {
      const where = `process ${name}`;
      if (!performed.has(name))
        this.#note({ kind: 'unused', where, sentence: 'no role performs it' });
      // A process without actions only gives a role something to read.
      if (!acted.has(name)) {
        if (writes.length > 0)
          this.#note({ kind: 'unused', where, sentence: 'it may write, but has no action' });
        continue;
      }
      const own = Object.keys(actions).filter((action) => actions[action]?.process === name);
      if (!own.some((action) => this.#done.has(action))) continue;
      for (const pointer of new Set([...reads, ...writes])) {
        if (this.#trials.isUsed(name, pointer)) continue;
        const sentence = `its footprint names ${pointer}, which no action of it accessed`;
        this.#note({ kind: 'unused', where: `${where} ${pointer}`, sentence });
      }
    }
    for (const action of walked ? Object.keys(actions) : []) {
      if (this.#done.has(action)) continue;
      const refusal = this.#refusals.get(action);
      const sentence = `it was never executed${refusal === undefined ? '' : `; the last refusal: ${refusal}`}`;
      this.#note({ kind: 'never_done', where: `action ${action}`, sentence });
    }
  }

  /** Numbers beyond the limits of an entry, and values that are not JSON. */
  #judgeSchemas(): void {
    const loose = loosePlaces(this.#domain.state, '');
    for (const place of loose) {
      const sentence =
        'it accepts values that are not JSON, which no action can write; declare their type';
      this.#note({ kind: 'loose_schema', where: `state ${place}`, sentence });
    }
  }

  /**
   * This may be intended: contradicting facts are then recorded, and hold only if no fact held
   * before.
   */
  #judgeMemory(): void {
    const { counselors, memory } = this.#domain;
    if (Object.keys(counselors).length > 0) return;
    for (const [name, { strategy }] of Object.entries(memory?.predicates ?? {})) {
      if (strategy !== 'await') continue;
      const sentence =
        'contradictions wait for a counselor, but the domain has no counselors; declare some';
      this.#note({ kind: 'no_counselor', where: `predicate ${name}`, sentence });
    }
  }

  // ── problems ──

  #found(
    problem: FoundProblem,
    reached: boolean,
    shrunk: () => { found: FoundProblem; example: Counterexample; steps: number },
  ): void {
    const key = `${problem.kind} ${problem.where}`;
    const known = this.#problems.get(key);
    const level =
      WARNINGS.has(problem.kind) || (!reached && RARE.has(problem.kind)) ? 'warning' : 'error';
    if (known !== undefined && (known.level === 'error' || level === 'warning')) return;
    const { found, example, steps } = shrunk();
    const { kind, where, sentence } = found;
    this.#problems.set(key, {
      kind,
      level,
      where,
      sentence,
      counterexample: example,
      shrunk: steps,
    });
  }

  #note({ kind, where, sentence }: FoundProblem, counterexample?: Counterexample): void {
    const key = `${kind} ${where}`;
    if (this.#problems.has(key)) return;
    const level = WARNINGS.has(kind) ? 'warning' : 'error';
    const example = counterexample === undefined ? {} : { counterexample };
    this.#problems.set(key, { kind, level, where, sentence, ...example, shrunk: 0 });
  }

  /**
   * Drops problems that follow from others. The kernel checks an impure function several ways. That
   * shows no fault of the kernel. A promise is not an answer. The pass count of an invariant that
   * cannot be checked means nothing.
   */
  #withoutConsequences(): DomainProblem[] {
    const all = [...this.#problems.values()];
    const isImpure = all.some(({ kind }) => kind === 'impure');
    const wrong = new Set(all.filter(({ level }) => level === 'error').map(({ where }) => where));
    const late = new Set(
      all.filter(({ kind }) => kind === 'asynchronous').map(({ where }) => where),
    );
    return all.filter(
      ({ kind, where }) =>
        !(kind === 'evaluation_differs' && isImpure) &&
        !(kind === 'nonsense' && late.has(where)) &&
        !(COUNTED.has(kind) && wrong.has(where)),
    );
  }

  // ── randomness ──

  #oneOf<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)];
  }

  /** Up to `count` values that fit; early draws are mostly small. */
  #draw(
    values: fc.Arbitrary<unknown>,
    count: number,
    takes: (value: unknown) => boolean,
  ): unknown[] {
    const found: unknown[] = [];
    for (let drawn = 0; found.length < count && drawn < DRAWS_MAX * count; ) {
      const seed = Math.floor(this.#random() * 2 ** 31);
      const numRuns = drawn === 0 ? count : Math.min(DRAWS_MAX, DRAWS_MAX * count - drawn);
      found.push(...fc.sample(values, { seed, numRuns }).filter(takes));
      drawn += numRuns;
    }
    return found.slice(0, count);
  }
}

function isSame(a: FoundProblem, b: FoundProblem): boolean {
  return a.kind === b.kind && a.where === b.where;
}

function asJson(value: unknown): Json | undefined {
  try {
    return copyJson(value, WORLD_LIMITS);
  } catch {
    return undefined;
  }
}

function typeNamed(value: unknown): string {
  const [found] =
    typeof value === 'object' && value !== null
      ? Object.values(value).filter((v) => asJson(v) === undefined)
      : [];
  const odd = found ?? value;
  return typeof odd === 'object' ? (odd?.constructor?.name ?? 'an object') : typeof odd;
}

function hasMember(value: unknown, [segment, ...rest]: readonly (string | symbol)[]): boolean {
  if (segment === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  const keys = typeof segment === 'symbol' ? Object.keys(value) : [segment];
  return keys.some(
    (key) => Object.hasOwn(value, key) && hasMember((value as Record<string, unknown>)[key], rest),
  );
}

/** The places of a schema that accept any value. */
function loosePlaces(schema: z.ZodType, place: string): string[] {
  const def = schema._zod.def as {
    readonly type: string;
    readonly shape?: Readonly<Record<string, z.ZodType>>;
    readonly valueType?: z.ZodType;
    readonly element?: z.ZodType;
    readonly innerType?: z.ZodType;
  };
  if (def.type === 'any' || def.type === 'unknown') return [place === '' ? '/' : place];
  return [
    ...Object.entries(def.shape ?? {}).flatMap(([key, part]) =>
      loosePlaces(part, `${place}/${key}`),
    ),
    ...[def.valueType, def.element].flatMap((part) =>
      part === undefined ? [] : loosePlaces(part, `${place}/*`),
    ),
    ...(def.innerType === undefined ? [] : loosePlaces(def.innerType, place)),
  ];
}

/** The names to try as counselors: the given names, and guesses for each kind. */
function counselorNames(domain: Domain, given: Readonly<Record<string, string>> = {}): string[] {
  const kinds = Object.keys(domain.counselors);
  return [...Object.values(given), ...kinds.flatMap((kind) => GUESSES.map((guess) => guess(kind)))];
}

const GUESSES: readonly ((kind: string) => string)[] = [
  (kind) => kind,
  (kind) => `${kind}:checked`,
  (kind) => `${kind}-checked`,
  (kind) => `${kind}/checked`,
  () => 'dr-checked',
  () => 'checked',
];

/** A small generator by Marsaglia (xorshift32): the same seed gives the same numbers. */
function randomOf(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
