/**
 * A few transactions, resources and sinks, small enough to be walked through in every order, with a crash anywhere: what is
 * durable, what a process has in memory, and what the sinks have seen. What is done next is the protocol's to say
 * (`src/effects/protocol.ts`); here is everything that it can meet.
 */
import {
  BEGUN,
  type Decision,
  type EffectClass,
  type EffectPhase,
  type EffectRecord,
  isLeft,
  isPivot,
  type Knowing,
  nextStep,
  recorded,
  retryOf,
  TRIES,
  type TransactionState,
} from '../../src/effects/protocol.ts';

export interface PlannedEffect {
  readonly class: EffectClass;
  readonly on: string;
  /** Of a branch that is not chosen in the end. */
  readonly loses?: true;
}

export interface Plan {
  readonly effects: readonly PlannedEffect[];
  /** Whether its body comes to its end, or throws there. */
  readonly ends: 'commit' | 'throw';
  /** Its action says what is to be committed where one of its effects fails for good. */
  readonly hasOnFailure?: true;
}

/** How much may go wrong in all. */
export interface Trouble {
  readonly crashes: number;
  /** Answers that are lost, of calls that have happened or not. */
  readonly losses: number;
  /** Calls that the sink refuses. */
  readonly refusals: number;
  /** Calls that the sink refuses for good. */
  readonly finals?: number;
  /** Proposals of what is to be committed for a failure that are refused. */
  readonly rejections?: number;
  /** Calls of which the answer is not asked for any more: a sink that could tell does not answer. */
  readonly silences?: number;
  /** What people decide of what waits for them, who look at the sink first, and may do there what is to be done. */
  readonly decisions?: number;
}

interface Flight {
  readonly n: number;
  readonly how: 'call' | 'undo';
  readonly stage: 'sent' | 'done' | 'refused' | 'refused for good';
}

interface Running {
  /** 0 before it has begun. */
  readonly epoch: number;
  readonly state: TransactionState;
  /** Effects in the order of the log, by their place in the plan. */
  readonly order: readonly number[];
  /** How far the body is; -1 where there is none. */
  readonly at: number;
  readonly planned: readonly number[];
  readonly flight: Flight | null;
  readonly isCommitted: boolean;
  /** What the ledger has for its failure, by the key of the proposal: how often it was refused before. */
  readonly answers: readonly ('made' | 'rejected')[];
}

interface Act {
  readonly tx: number;
  readonly effect: number;
  readonly how: 'call' | 'undo';
}

export interface World {
  readonly last: number;
  readonly running: readonly Running[];
  /** What the sinks have done, in order. */
  readonly acts: readonly Act[];
  readonly left: Trouble;
}

/** A rule of the model was broken: what, and the way there. */
export class Broken extends Error {
  readonly way: readonly string[];

  constructor(what: string, way: readonly string[]) {
    super(`${what}\n${way.map((step) => `  ${step}`).join('\n')}`);
    this.way = way;
  }
}

export interface Rules {
  readonly nextStep: typeof nextStep;
  readonly recorded: typeof recorded;
  /** Whether a transaction may act where it has claims: by default, when no older one is live there. */
  readonly isClear: (world: World, tx: number, resource: string, plans: readonly Plan[]) => boolean;
}

export const RULES: Rules = {
  nextStep,
  recorded,
  isClear: (world, tx, resource, plans) => blockers(world, tx, resource, plans).length === 0,
};

/** Walks through all that can happen. @throws Broken */
export function explore(
  plans: readonly Plan[],
  trouble: Trouble,
  rules: Rules = RULES,
): { worlds: number; ends: number } {
  const start: World = {
    last: 0,
    running: plans.map(() => ({
      epoch: 0,
      state: BEGUN,
      order: [],
      at: 0,
      planned: [],
      flight: null,
      isCommitted: false,
      answers: [],
    })),
    acts: [],
    left: trouble,
  };
  const numbersOf = partNumbers();
  const first = numbersOf(start);
  const seen = new Set([first.join()]);
  const todo: { readonly world: World; readonly parts: Parts; readonly way: Way | undefined }[] = [
    { world: start, parts: first, way: undefined },
  ];
  let ends = 0;
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    const { world, way } = at;
    const model = new Model(world, plans, rules, () => wayTo(way));
    const next = model.next();
    // A person may decide, or not: nobody waits for them.
    if (next.length === 0) {
      ends++;
      model.checkEnd(trouble);
    }
    next.push(...model.decisions());
    if (world.left.crashes > 0 && world.last > 0) next.push(['crash', crashed(world)]);
    for (const [what, to] of next) {
      const parts = numbersOf(to, at);
      const key = parts.join();
      if (seen.has(key)) continue;
      seen.add(key);
      const step = { what, before: way };
      new Model(to, plans, rules, () => wayTo(step)).check(world);
      todo.push({ world: to, parts, way: step });
    }
  }
  return { worlds: seen.size, ends };
}

/** The parts of a world, each by a number. */
type Parts = readonly number[];

/**
 * Numbers of what worlds are made of: the same where they say the same, and else others. A step leaves most of a world as it is, and that
 * has the numbers that it had.
 */
function partNumbers(): (world: World, before?: { readonly world: World; readonly parts: Parts }) => Parts {
  const byText = new Map<string, number>();
  const numberOf = (part: object): number => {
    const text = JSON.stringify(part);
    const n = byText.get(text) ?? byText.size;
    byText.set(text, n);
    return n;
  };
  return (world, before) => {
    const known = before && partsOf(before.world);
    return partsOf(world).map((part, at) => (part === known?.[at] ? before!.parts[at]! : numberOf(part)));
  };
}

function partsOf({ last, running, acts, left, ...others }: World): readonly object[] {
  // What a world has besides would be missing here.
  others satisfies Record<string, never>;
  return [[last], ...running, acts, left];
}

interface Way {
  readonly what: string;
  readonly before: Way | undefined;
}

function wayTo(way: Way | undefined): string[] {
  const steps: string[] = [];
  for (let at = way; at !== undefined; at = at.before) steps.unshift(at.what);
  return steps;
}

/** All that was in memory is gone. */
function crashed(world: World): World {
  return {
    ...world,
    running: world.running.map((tx) => (tx.epoch === 0 ? tx : { ...tx, at: -1, planned: [], flight: null })),
    left: { ...world.left, crashes: world.left.crashes - 1 },
  };
}

function isLive({ epoch, state }: Running): boolean {
  return epoch > 0 && state.phase !== 'settled' && state.phase !== 'aborted';
}

/** Nothing goes on with it until a person has decided. */
function isStuck(tx: Running): boolean {
  return isLive(tx) && tx.at === -1 && tx.flight === null && waitsForPerson(tx);
}

function waitsForPerson({ state }: Running): boolean {
  const step = nextStep(state, { hasBody: false, isUnderWay: () => false, tries: TRIES });
  return step.do === 'wait' && step.for === 'person';
}

/** Left to a person, or decided by one to be otherwise than the transaction would have it. */
function wasLeft(phase: EffectPhase): boolean {
  return isLeft(phase) || phase === 'accepted' || phase === 'undone';
}

function blockers(world: World, tx: number, resource: string, plans: readonly Plan[]): number[] {
  const { epoch } = world.running[tx]!;
  return world.running.flatMap((other, n) =>
    n !== tx && isLive(other) && other.epoch < epoch && touches(plans[n]!, resource) ? [n] : [],
  );
}

function touches({ effects }: Plan, resource: string): boolean {
  return effects.some(({ on }) => on === resource);
}

type Next = [what: string, to: World];

class Model {
  readonly #world: World;
  readonly #plans: readonly Plan[];
  readonly #rules: Rules;
  readonly #way: () => string[];

  constructor(world: World, plans: readonly Plan[], rules: Rules, way: () => string[]) {
    this.#world = world;
    this.#plans = plans;
    this.#rules = rules;
    this.#way = way;
  }

  next(): Next[] {
    return this.#world.running.flatMap((_, tx) => this.#nextOf(tx));
  }

  #nextOf(tx: number): Next[] {
    const running = this.#world.running[tx]!;
    if (running.epoch === 0) {
      const epoch = this.#world.last + 1;
      return [[`${tx} begins`, { ...this.#with(tx, { epoch }), last: epoch }]];
    }
    const knowing: Knowing = {
      hasBody: running.at !== -1,
      isUnderWay: (n) => running.flight?.n === n,
      tries: TRIES,
    };
    const step = this.#rules.nextStep(running.state, knowing);
    switch (step.do) {
      case 'nothing':
        return [];
      case 'log':
        return [this.#log(tx, step.record)];
      case 'call':
      case 'undo':
        return [
          [`${tx}.${step.n} is sent again`, this.#with(tx, { flight: { n: step.n, how: step.do, stage: 'sent' } })],
          ...this.#silent(tx, step.n),
        ];
      case 'ask':
        return [this.#ask(tx, step.n), ...this.#silent(tx, step.n)];
      case 'propose':
        return this.#propose(tx);
      case 'wait':
        if (step.for === 'answer') return this.#fly(tx);
        return step.for === 'body' ? this.#body(tx) : [];
    }
  }

  /** First the ledger has it, once for each key; then the log says so. */
  #propose(tx: number): Next[] {
    const { left, running } = this.#world;
    const { answers, state } = running[tx]!;
    const { n, refusals } = state.failing!;
    const answer = answers[refusals];
    if (answer === 'made') return [this.#log(tx, { is: 'settled' })];
    if (answer === 'rejected') return [this.#log(tx, { is: 'refused', n })];
    const next: Next[] = [
      [`${tx}: what is done where it fails is committed`, this.#with(tx, { answers: [...answers, 'made'] })],
    ];
    if (left.rejections) {
      const to = this.#with(tx, { answers: [...answers, 'rejected'] });
      next.push([`${tx}: and is rejected`, { ...to, left: { ...left, rejections: left.rejections - 1 } }]);
    }
    return next;
  }

  /** Nobody is asked any more. */
  #silent(tx: number, n: number): Next[] {
    const { left } = this.#world;
    if (!left.silences) return [];
    const [what, to] = this.#log(tx, { is: 'in_doubt', n });
    return [[what, { ...to, left: { ...left, silences: left.silences - 1 } }]];
  }

  /** What people may do about what waits for them: they see what there is, say so, or see to it. */
  decisions(): Next[] {
    const { left, running } = this.#world;
    if (!left.decisions) return [];
    const after = { ...left, decisions: left.decisions - 1 };
    return running
      .flatMap((one, tx) =>
        !isStuck(one)
          ? []
          : one.state.effects.flatMap(({ phase }, n) => (isLeft(phase) ? this.#decisionsOn(tx, n) : [])),
      )
      .map(([what, to]) => [what, { ...to, left: after }]);
  }

  #decisionsOn(tx: number, n: number): Next[] {
    const { state, order } = this.#world.running[tx]!;
    const effect = order[n]!;
    const isCommitted = this.#isWanted(tx, effect);
    const isThere = this.#count(tx, effect, 'call') > this.#count(tx, effect, 'undo');
    const next = [this.#decided(this.#world, tx, n, isThere ? 'applied' : 'undone', '')];
    next.push(this.#decided(this.#world, tx, n, 'residue', ''));
    // By hand, where that was not done before: in the model nothing happens twice.
    if (isCommitted && this.#count(tx, effect, 'call') === 0)
      next.push(this.#decided(this.#byHand(tx, effect, 'call'), tx, n, 'applied', ', made so by hand'));
    if (!isCommitted && isThere)
      next.push(this.#decided(this.#byHand(tx, effect, 'undo'), tx, n, 'undone', ', made so by hand'));
    const retry = retryOf(state, n);
    const isSafe = retry === 'freely' || (retry === 'confirmed' && isThere !== isCommitted);
    if (isSafe) next.push(this.#decided(this.#world, tx, n, 'retry', ''));
    return next;
  }

  /** Whether it is to be there in the end. */
  #isWanted(tx: number, effect: number): boolean {
    const { isCommitted, state } = this.#world.running[tx]!;
    return isCommitted && state.failing === undefined && this.#plans[tx]!.effects[effect]!.loses !== true;
  }

  #byHand(tx: number, effect: number, how: 'call' | 'undo'): World {
    return { ...this.#world, acts: [...this.#world.acts, { tx, effect, how }] };
  }

  #decided(world: World, tx: number, n: number, as: Decision, how: string): Next {
    const state = this.#rules.recorded(world.running[tx]!.state, { is: 'resolved', n, as });
    const running = world.running.map((one, at) => (at === tx ? { ...one, state } : one));
    return [`a person says that ${tx}.${world.running[tx]!.order[n]} is ${as}${how}`, { ...world, running }];
  }

  /** The next thing that the body does. */
  #body(tx: number): Next[] {
    const running = this.#world.running[tx]!;
    const { effects, ends } = this.#plans[tx]!;
    const hasFailed = running.state.effects.some(
      ({ phase, isDiscarded }) => isDiscarded !== true && (phase === 'dropped' || isLeft(phase)),
    );
    if (hasFailed) return [this.#abort(tx, 'a call failed')];
    const effect = effects[running.at];
    if (effect === undefined) {
      const loser = running.order.findIndex(
        (at, n) => effects[at]!.loses === true && running.state.effects[n]!.isDiscarded !== true,
      );
      if (loser !== -1) return [this.#log(tx, { is: 'discarded', n: loser })];
      if (ends === 'throw') return [this.#abort(tx, 'its body throws')];
      return this.#when(tx, [...new Set(effects.map(({ on }) => on))], () => {
        const planned = running.planned.map((n) => effects[n]!.class);
        const { hasOnFailure } = this.#plans[tx]!;
        const record = { is: 'committed', planned, ...(hasOnFailure && { hasOnFailure }) } as const;
        const to = this.#rules.recorded(running.state, record);
        return [
          `${tx} commits`,
          this.#with(tx, {
            state: to,
            order: [...running.order, ...running.planned],
            planned: [],
            at: -1,
            isCommitted: true,
          }),
        ];
      });
    }
    const isHeld = effect.class.delivery === 'buffered' || effect.class.reversibility === 'irreversible';
    if (isHeld) {
      return [
        [
          `${tx} plans ${running.at}`,
          this.#with(tx, {
            at: running.at + 1,
            planned: effect.loses === true ? running.planned : [...running.planned, running.at],
          }),
        ],
      ];
    }
    return this.#when(tx, [effect.on], () => [
      `${tx} intends ${running.at}`,
      this.#with(tx, {
        state: this.#rules.recorded(running.state, { is: 'intended', class: effect.class }),
        order: [...running.order, running.at],
        flight: { n: running.order.length, how: 'call', stage: 'sent' },
      }),
    ]);
  }

  /** Once it may act there; refused where somebody who is stuck is in the way. */
  #when(tx: number, resources: readonly string[], then: () => Next): Next[] {
    const inTheWay = resources.flatMap((resource) => blockers(this.#world, tx, resource, this.#plans));
    if (inTheWay.some((other) => isStuck(this.#world.running[other]!))) return [this.#abort(tx, 'resource_in_doubt')];
    const isClear = resources.every((resource) => this.#rules.isClear(this.#world, tx, resource, this.#plans));
    return isClear ? [then()] : [];
  }

  #abort(tx: number, why: string): Next {
    const { state } = this.#world.running[tx]!;
    return [
      `${tx} aborts: ${why}`,
      this.#with(tx, { state: this.#rules.recorded(state, { is: 'aborting' }), at: -1, planned: [] }),
    ];
  }

  #log(tx: number, record: EffectRecord): Next {
    const state = this.#rules.recorded(this.#world.running[tx]!.state, record);
    const what = `${tx} logs ${record.is}${'n' in record ? ` ${record.n}` : ''}`;
    if (record.is !== 'applying' && record.is !== 'undoing') return [what, this.#with(tx, { state })];
    const how = record.is === 'applying' ? 'call' : 'undo';
    return [what, this.#with(tx, { state, flight: { n: record.n, how, stage: 'sent' } })];
  }

  /** What becomes of a call, and what its answer leads to. */
  #fly(tx: number): Next[] {
    const { flight, state, order, at } = this.#world.running[tx]!;
    const { n, how, stage } = flight!;
    const name = `${tx}.${order[n]} ${how}`;
    if (stage !== 'sent') {
      const { phase } = state.effects[n]!;
      const is =
        stage !== 'done' ? 'failed' : phase === 'undoing' ? 'undone' : phase === 'intended' ? 'executed' : 'applied';
      const goesOn = phase === 'intended' && stage === 'done' && at !== -1;
      const record: EffectRecord = stage === 'refused for good' ? { is: 'failed', n, final: true } : { is, n };
      const to = { state: this.#rules.recorded(state, record), flight: null, ...(goesOn && { at: at + 1 }) };
      return [[`${name}: logged ${is}`, this.#with(tx, to)]];
    }
    const { left } = this.#world;
    const done = this.#acted(tx, n, how);
    const next: Next[] = [[`${name}: happens`, withFlight(done, tx, { n, how, stage: 'done' })]];
    if (left.losses > 0) {
      const after = { ...left, losses: left.losses - 1 };
      next.push([`${name}: happens, its answer is lost`, { ...withFlight(done, tx, null), left: after }]);
      next.push([`${name}: is lost`, { ...withFlight(this.#world, tx, null), left: after }]);
    }
    // A sink with keys answers again as it did, when it has done it.
    if (left.refusals > 0 && done !== this.#world) {
      const after = { ...left, refusals: left.refusals - 1 };
      next.push([`${name}: refused`, { ...withFlight(this.#world, tx, { n, how, stage: 'refused' }), left: after }]);
    }
    if (left.finals && how === 'call' && done !== this.#world) {
      const after = { ...left, finals: left.finals - 1 };
      const to = withFlight(this.#world, tx, { n, how, stage: 'refused for good' });
      next.push([`${name}: refused for good`, { ...to, left: after }]);
    }
    return next;
  }

  #ask(tx: number, n: number): Next {
    const { state, order, at } = this.#world.running[tx]!;
    const { phase } = state.effects[n]!;
    const how = phase === 'undoing' ? 'undo' : 'call';
    const hasHappened = this.#count(tx, order[n]!, how) > (how === 'call' ? this.#count(tx, order[n]!, 'undo') : 0);
    const is = !hasHappened ? 'absent' : phase === 'undoing' ? 'undone' : phase === 'intended' ? 'executed' : 'applied';
    const goesOn = is === 'executed' && at !== -1;
    return [
      `${tx}.${order[n]}: the sink says ${is}`,
      this.#with(tx, { state: this.#rules.recorded(state, { is, n }), ...(goesOn && { at: at + 1 }) }),
    ];
  }

  /** A sink with keys does it once. */
  #acted(tx: number, n: number, how: 'call' | 'undo'): World {
    const effect = this.#world.running[tx]!.order[n]!;
    const { sink } = this.#plans[tx]!.effects[effect]!.class;
    if (sink === 'keyed' && this.#count(tx, effect, how) > 0) return this.#world;
    return { ...this.#world, acts: [...this.#world.acts, { tx, effect, how }] };
  }

  #count(tx: number, effect: number, how: 'call' | 'undo'): number {
    return this.#world.acts.filter((act) => act.tx === tx && act.effect === effect && act.how === how).length;
  }

  #with(tx: number, change: Partial<Running>): World {
    return { ...this.#world, running: this.#world.running.map((one, n) => (n === tx ? { ...one, ...change } : one)) };
  }

  /** What must hold of every step. */
  check(before: World): void {
    const act = this.#world.acts[before.acts.length];
    if (act === undefined) return;
    const { on, class: kind } = this.#plans[act.tx]!.effects[act.effect]!;
    if (this.#count(act.tx, act.effect, act.how) > 1) this.#broken(`${act.tx}.${act.effect} has happened twice`);
    if (kind.reversibility === 'irreversible' && !this.#world.running[act.tx]!.isCommitted) {
      this.#broken(`${act.tx}.${act.effect} can't be undone, and is not committed`);
    }
    if (kind.reversibility === 'irreversible' && !this.#isLast(act))
      this.#broken(`${act.tx}.${act.effect} is not last`);
    if (isPivot(kind) && !this.#isAfterAll(act))
      this.#broken(`${act.tx}.${act.effect} is the pivot, and something of it may still fail`);
    if (this.#world.running[act.tx]!.answers.includes('made'))
      this.#broken(`${act.tx} acts after what it did is answered for`);
    if (kind.reversibility === 'irreversible' && act.how === 'undo') this.#broken(`${act.tx}.${act.effect} is undone`);
    for (const [tx, other] of this.#world.running.entries()) {
      if (tx === act.tx || !isLive(other)) continue;
      const isThere = this.#world.acts.some((one) => one.tx === tx && this.#plans[tx]!.effects[one.effect]!.on === on);
      if (isThere) this.#broken(`${act.tx} acts on ${on}, where ${tx} is not done yet`);
    }
    const later = this.#world.acts.find(
      (one) =>
        this.#plans[one.tx]!.effects[one.effect]!.on === on &&
        this.#world.running[one.tx]!.epoch > this.#world.running[act.tx]!.epoch,
    );
    if (later !== undefined) this.#broken(`${act.tx} acts on ${on} after ${later.tx}, which is younger`);
  }

  /** Whether all that can be undone has been done, or is given up. */
  #isLast({ tx }: Act): boolean {
    const { state } = this.#world.running[tx]!;
    return state.effects.every(
      ({ class: { reversibility }, phase }) =>
        reversibility === 'irreversible' || phase === 'applied' || wasLeft(phase),
    );
  }

  /** Whether all else has ended, by itself or as a person has decided. */
  #isAfterAll({ tx, effect }: Act): boolean {
    const { state, order } = this.#world.running[tx]!;
    return state.effects.every(
      ({ phase }, n) => order[n] === effect || ['applied', 'undone', 'accepted'].includes(phase),
    );
  }

  /** What must hold where nothing goes on. Refusals are fewer than the tries that there are. */
  checkEnd({ silences = 0 }: Trouble): void {
    for (const [tx, running] of this.#world.running.entries()) {
      if (isLive(running) && !isStuck(running)) this.#broken(`${tx} never ends`);
      const isBlind = this.#plans[tx]!.effects.some(({ class: { sink } }) => sink === 'blind');
      if (isStuck(running) && !isBlind && (this.#world.left.silences ?? 0) === silences && !this.#mayWait(tx))
        this.#broken(`${tx} waits for a person`);
      this.#checkFailing(tx, running);
      for (const [effect] of this.#plans[tx]!.effects.entries()) this.#checkEffect(tx, running, effect);
    }
  }

  /** What failed for good waits where nothing is said about that, or what can't be undone was done; or that was refused. */
  #mayWait(tx: number): boolean {
    const { state, answers } = this.#world.running[tx]!;
    const hasFailed = state.effects.some(({ phase }) => phase === 'unresolved');
    const isBeyond = state.effects.some(
      ({ class: { reversibility }, phase }) => reversibility === 'irreversible' && phase === 'applied',
    );
    return hasFailed && (this.#plans[tx]!.hasOnFailure !== true || isBeyond || answers.includes('rejected'));
  }

  /** What a failure comes to: it is undone and answered for, or a person sees to it; and never after what can't be undone. */
  #checkFailing(tx: number, { state, answers }: Running): void {
    const { failing, phase, effects } = state;
    if (answers.filter((answer) => answer === 'made').length > 1) this.#broken(`${tx} is answered for twice`);
    if (failing === undefined) {
      if (answers.length > 0) this.#broken(`${tx} is answered for, and has not failed`);
      return;
    }
    const isAnswered = answers.at(-1) === 'made' || failing.isWaived === true;
    if (phase === 'settled' && !isAnswered) this.#broken(`${tx} has failed, and nothing answers for it`);
    const beyond = effects.findIndex(
      (effect) => effect.class.reversibility === 'irreversible' && effect.phase === 'applied',
    );
    if (beyond !== -1) this.#broken(`${tx} has failed after ${beyond}, which can't be undone`);
  }

  #checkEffect(tx: number, running: Running, effect: number): void {
    const n = running.order.indexOf(effect);
    const phase = n === -1 ? undefined : running.state.effects[n]!.phase;
    // Whoever decides sees what there is.
    if (phase !== undefined && (isLeft(phase) || phase === 'accepted')) return;
    const there = this.#count(tx, effect, 'call') - this.#count(tx, effect, 'undo');
    // A pivot waits for what a person has to look at.
    const isHeldUp = phase === 'due' && isStuck(running);
    const expected = this.#isWanted(tx, effect) && phase !== 'undone' && !isHeldUp ? 1 : 0;
    if (there !== expected) this.#broken(`${tx}.${effect} is there ${there} times, not ${expected}`);
  }

  #broken(what: string): never {
    throw new Broken(what, this.#way());
  }
}

function withFlight(world: World, tx: number, flight: Flight | null): World {
  return { ...world, running: world.running.map((one, n) => (n === tx ? { ...one, flight } : one)) };
}
