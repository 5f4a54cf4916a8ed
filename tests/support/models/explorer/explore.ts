/**
 * A few transactions, resources and sinks, small enough to explore every order of steps, with a
 * crash at any point. The real coordinator decides which attempt may act (`view.ts`). The real
 * protocol decides its next step (`packages/assize/src/effects/protocol.ts`). This file models
 * everything that the two can meet.
 */
import {
  batchesOf,
  type Decision,
  EFFECT_ATTEMPTS,
  type EffectClass,
  type EffectPhase,
  type EffectRecord,
  isPivot,
  type LocalKnowledge,
  nextStep,
  recorded,
  retryOf,
  SharedWork,
  type TransactionState,
  unfinished,
} from '#effects';
import { Invariants } from './invariants.ts';
import { broadcast, handedOver, type Message, NOBODY } from './membership.ts';
import {
  type ExplorerClaim,
  type ExplorerEvent,
  type Outcome,
  type Resource,
  resourcesOf,
  type View,
  Views,
} from './view.ts';
import { Broken, type Move, walk } from './walk.ts';
import {
  BODY,
  type Body,
  claimsOf,
  type Done,
  endedOf,
  type Flight,
  isEffect,
  isLive,
  type Plan,
  type PlannedEffect,
  type Running,
  type Together,
  type Trouble,
  unbegun,
  type World,
  type Zombie,
} from './world.ts';

export interface Rules {
  readonly nextStep: typeof nextStep;
  readonly recorded: typeof recorded;
  /** The live work of all processes, as one process knows it. */
  readonly shared: (fence: number, last: number) => SharedWork;
  /** Whether an attempt may act, by the view of its process. */
  readonly isClear: (
    isClear: boolean,
    view: View,
    epoch: number,
    claims: readonly ExplorerClaim[],
  ) => boolean;
  /** Whether an attempt claimed too late, by the outcome. */
  readonly isLate: (outcome: Outcome) => boolean;
  /** Whether what was read once is another thing now. */
  readonly hasChanged: (then: readonly number[], now: readonly number[]) => boolean;
  /** The registered claims, out of all requested claims. */
  readonly claims: (claims: readonly ExplorerClaim[]) => readonly ExplorerClaim[];
  /** The claims that an attempt keeps while it needs a human decision. */
  readonly kept: (claims: readonly ExplorerClaim[]) => readonly ExplorerClaim[];
  /** Whether its claims are free before it has ended. */
  readonly isFree: (state: TransactionState) => boolean;
  /** The effects called or compensated in one step with effect `n`, out of the candidates `ns`. */
  readonly oneStep: (ns: readonly number[], n: number, how: 'call' | 'undo') => readonly number[];
  /** The record of an effect that did nothing because another effect of its step was refused. */
  readonly spared: (n: number) => EffectRecord;
  /** Whether a call that is under way may reach its sink when another process goes on with it. */
  readonly comesLate: (kind: EffectClass) => boolean;
  /** Whether the writes of a process are refused after it loses its membership. */
  readonly isFenced: boolean;
}

export const RULES: Rules = {
  nextStep,
  recorded,
  shared: (fence, last) => new SharedWork(fence, last),
  isClear: (isClear) => isClear,
  isLate: (outcome) => outcome !== undefined,
  hasChanged: (then, now) => then.join() !== now.join(),
  claims: (claims) => claims,
  kept: (claims) => claims,
  isFree: () => false,
  oneStep: (ns) => ns,
  spared: (n) => ({ is: 'absent', n }),
  comesLate: ({ sink }) => sink === 'keyed',
  isFenced: true,
};

/** How many states there are, and the views of live work in them. */
export interface Explored {
  readonly states: number;
  readonly views: Views;
}

/**
 * Explores all executions of these plans in `processes` processes, each under one of these
 * troubles.
 * @throws Broken
 */
export function explore(
  plans: readonly Plan[],
  troubles: readonly Trouble[],
  rules: Rules = RULES,
  processes = 1,
): Explored {
  let way: () => readonly string[] = () => [];
  const views = new Views(rules.shared, (what) => {
    throw new Broken(what, way());
  });
  const kept = { ...rules, recorded: remembered(rules.recorded) };
  const fences = Array.from({ length: processes }, (_, i) => i + 1);
  const none: Done = { latest: 0, readBy: 0, stands: [] };
  const begin = (left: Trouble): World => ({
    last: 0,
    running: plans.map((plan, i) =>
      unbegun(i, plan, rules.claims(claimsOf(plan)), plan.retries ?? 0),
    ),
    members: fences.map((fence) => ({ view: views.begin(fence, 0), inbox: [], isIn: true })),
    zombies: [],
    ghosts: [],
    done: { x: none, y: none },
    wasSilent: false,
    left,
  });
  const states = walk({
    starts: troubles.map(begin),
    partsOf,
    textOf,
    budgetOf: ({ left }) => KINDS.map((kind) => left[kind] ?? 0),
    next: (world, wayThere) => {
      way = wayThere;
      return new Model(world, plans, kept, views, wayThere).moves();
    },
  });
  return { states, views };
}

/** The parts of a world. Most steps leave most parts unchanged. */
function partsOf({
  last,
  running,
  members,
  zombies,
  ghosts,
  done,
  wasSilent,
  left: _,
  ...others
}: World): object[] {
  // This line does not compile if a world has a field that the list omits.
  others satisfies Record<string, never>;
  return [
    small(wasSilent ? -1 - last : last),
    zombies,
    ghosts,
    done.x,
    done.y,
    ...members,
    ...running,
  ];
}

const SMALL = new Map<number, object>();
/** One object for each. It has its number already. */
function small(n: number): object {
  const object = SMALL.get(n) ?? [n];
  SMALL.set(n, object);
  return object;
}

/**
 * JSON. Attempts are the most frequent part and have a faster text, with each field by name: taking
 * the rest of an object is slow.
 */
function textOf(part: object, numberOf: (part: object) => number): string {
  if (!('order' in part)) return JSON.stringify(part);
  const { state, body, flight, order, claims, answers, acts, decided, again } = part as Running;
  const { plan, retries, member, epoch, isLogged, isCommitted, isEnded, isLeft, wasLeft } =
    part as Running;
  const flags = +isLogged + 2 * +isCommitted + 4 * +isEnded + 8 * +isLeft + 16 * +wasLeft;
  const memory = `${body && numberOf(body)},${flight && numberOf(flight)},${again && numberOf(again)}`;
  const told = `${numberOf(answers)},${numberOf(acts)},${numberOf(decided)}`;
  return `attempt ${plan},${retries},${member},${epoch},${flags},${numberOf(state)},${numberOf(order)},${numberOf(claims)},${told},${memory}`;
}

type Read =
  | ('state' | 'body' | 'flight' | 'order' | 'claims' | 'answers' | 'acts' | 'decided' | 'again')
  | (
      | 'plan'
      | 'retries'
      | 'member'
      | 'epoch'
      | 'isLogged'
      | 'isCommitted'
      | 'isEnded'
      | 'isLeft'
      | 'wasLeft'
    );
/** The fields of an attempt that its text omits. The list must be empty. */
const UNREAD: readonly Exclude<keyof Running, Read>[] = [];
UNREAD satisfies readonly never[];

const KINDS: readonly (keyof Trouble)[] = [
  'crashes',
  'losses',
  'refusals',
  'finals',
  'rejections',
  'silences',
  'decisions',
  'lapses',
];

type Next = Move<World>;

/**
 * Returns the same object for equal states: most steps lead to a state that another step has
 * produced.
 */
function remembered(recorded: Rules['recorded']): Rules['recorded'] {
  const byText = new Map<string, TransactionState>();
  const made = new WeakMap<TransactionState, Map<string, TransactionState>>();
  return (state, record) => {
    const known = made.get(state) ?? new Map<string, TransactionState>();
    made.set(state, known);
    const text = JSON.stringify(record);
    let to = known.get(text);
    if (to === undefined) {
      to = recorded(state, record);
      const same = JSON.stringify(to);
      to = byText.get(same) ?? to;
      byText.set(same, to);
      known.set(text, to);
    }
    return to;
  };
}

class Model {
  readonly #world: World;
  readonly #plans: readonly Plan[];
  readonly #rules: Rules;
  readonly #views: Views;
  readonly #holds: Invariants;
  readonly #isRead: boolean;

  constructor(
    world: World,
    plans: readonly Plan[],
    rules: Rules,
    views: Views,
    way: () => readonly string[],
  ) {
    this.#world = world;
    this.#plans = plans;
    this.#rules = rules;
    this.#views = views;
    this.#holds = new Invariants(plans, way);
    this.#isRead = plans.some(({ steps }) => steps.some((step) => 'reads' in step));
  }

  moves(): Next[] {
    const { running, members, zombies, ghosts } = this.#world;
    const moves = [
      ...running.flatMap((_, tx) => this.#nextOf(tx)),
      ...members.flatMap((_, m) => [...this.#hear(m), ...this.#takeOver(m)]),
      ...zombies.map((zombie) => this.#late(zombie)),
      ...ghosts.map((_, i) => this.#land(i)),
    ];
    // Progress never requires a human decision, a crash or a lapse of a lease.
    if (moves.length === 0) this.#holds.stopped(this.#world);
    return [...moves, ...this.#decisions(), ...this.#crashes(), ...this.#lapses()];
  }

  /**
   * If an attempt has several moves, they are not private: the walk explores the other attempts
   * too.
   */
  #nextOf(tx: number): Next[] {
    const moves = this.#movesOf(tx);
    return moves.length === 1 ? moves : moves.map(({ what, to }) => ({ what, to }));
  }

  #movesOf(tx: number): Next[] {
    const running = this.#world.running[tx]!;
    if (running.isEnded) return [];
    if (running.epoch === 0) return this.#unbegun(tx);
    const { view, isIn } = this.#world.members[running.member]!;
    if (!isIn || !view.isMine(running.epoch)) return [];
    if (running.body === null && !running.isLogged)
      return [{ what: `${tx} was not logged`, to: this.#ended(this.#world, tx) }];
    if (running.flight?.stage === 'given up') return [this.#giveUp(tx, running.flight)];
    const step = this.#rules.nextStep(running.state, this.#knowing(running));
    switch (step.do) {
      case 'nothing':
        return [];
      case 'log':
        return [this.#log(tx, step.record)];
      case 'call':
      case 'undo': {
        const ns = this.#oneStep(running, step.n, step.do);
        return [
          { what: `${tx}.${ns} is sent again`, to: this.#sent(tx, running.state, ns, step.do) },
          ...this.#silent(tx, ns),
        ];
      }
      case 'ask':
        return [this.#ask(tx, step.n), ...this.#silent(tx, [step.n])];
      case 'propose':
        return this.#propose(tx);
      case 'wait':
        if (step.for === 'answer') return this.#fly(tx);
        // It is said once: it may not have heard of it.
        if (step.for === 'needs_human') return running.isLeft ? [] : [this.#leave(tx)];
        return this.#body(tx);
    }
  }

  #unbegun(tx: number): Next[] {
    const { running } = this.#world;
    const { plan, body, member } = running[tx]!;
    const { epoch, by = 0 } = this.#plans[plan]!;
    if (body !== null) return this.#world.members[member]!.isIn ? this.#body(tx) : [];
    const at =
      this.#world.members[by]?.isIn === true
        ? by
        : this.#world.members.findIndex(({ isIn }) => isIn);
    if (at === -1) return [];
    if (epoch === 'late')
      return [
        { what: `${tx} begins, without an epoch`, to: this.#with(tx, { body: BODY, member: at }) },
      ];
    return [this.#begin(tx, this.#with(tx, { body: BODY, member: at }))];
  }

  #begin(tx: number, world: World): Next {
    const epoch = world.last + 1;
    const { claims, member } = world.running[tx]!;
    const { fence } = world.members[member]!.view;
    const begun = { ...put(world, tx, { epoch }), last: epoch };
    const said: ExplorerEvent = { is: 'begun', epoch, fence, claims, isHere: true };
    return { what: `${tx} begins`, to: this.#say(begun, tx, said) };
  }

  /** In one process all that is said is heard immediately. */
  #say(world: World, tx: number, said: ExplorerEvent): World {
    const by = world.running[tx]!.member;
    const message: Message = { said, by, tx };
    if (world.members.length === 1) return this.#heard(world, by, message);
    return { ...world, members: broadcast(world.members, message) };
  }

  #hear(m: number): Next[] {
    const { isIn, inbox } = this.#world.members[m]!;
    const [first, ...others] = inbox;
    if (!isIn || first === undefined) return [];
    const world = setMember(this.#world, m, { inbox: others });
    const about = 'epoch' in first.said ? first.said.epoch : first.said.gone;
    return [
      { what: `process ${m} hears: ${first.said.is} ${about}`, to: this.#heard(world, m, first) },
    ];
  }

  #heard(world: World, m: number, { said, by, tx }: Message): World {
    const isMine = by === m;
    const { view, outcome } = world.members[m]!.view.say(
      said.is === 'begun' ? { ...said, isHere: isMine } : said,
    );
    const to = setMember(world, m, { view });
    if (!isMine || tx === NOBODY) return to;
    const { body, epoch, claims, member } = to.running[tx]!;
    if (member !== m || body === null) return to;
    const change = (into: Partial<Body>): World => put(to, tx, { body: { ...body, ...into } });
    if (said.is === 'begun')
      return view.isInDoubt(said.claims) ? change({ refused: 'resource_in_doubt' }) : to;
    if (said.is === 'given') return change({ isAsking: false });
    if (said.is !== 'grown') return to;
    const isLate = this.#rules.isLate(outcome);
    const told = change({ isAsking: false, ...(isLate && { refused: 'stale' as const }) });
    if (!isLate) return put(told, tx, { claims: [...claims, ...said.claims] });
    const again = put(told, tx, { again: [...claims, ...said.claims] });
    return world.members.length === 1
      ? again
      : this.#say(again, tx, { is: 'given', epoch, claims: said.claims });
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
      {
        what: `${tx}: what is done where it fails is committed`,
        to: this.#with(tx, { answers: [...answers, 'made'] }),
      },
    ];
    if (left.rejections) {
      const to = this.#with(tx, { answers: [...answers, 'rejected'] });
      next.push({ what: `${tx}: and is rejected`, to: less(to, 'rejections') });
    }
    return next;
  }

  /** The knowledge of this process that is not in the log. */
  #knowing({ body, flight, plan, order }: Running): LocalKnowledge {
    const known: LocalKnowledge = {
      hasBody: body !== null,
      isInFlight: (n) => flight?.ns.includes(n) === true,
      maxAttempts: EFFECT_ATTEMPTS,
    };
    const { steps } = this.#plans[plan]!;
    const together = batchesOf(order.map((at) => AT[(steps[at] as PlannedEffect).with ?? 'alone']));
    return together === undefined ? known : { ...known, batchOf: together };
  }

  /** The effects that the runtime calls or compensates in one step with effect `n`. */
  #oneStep(running: Running, n: number, how: 'call' | 'undo'): readonly number[] {
    const { batchOf } = this.#knowing(running);
    if (batchOf === undefined) return [n];
    const all = batchOf(n).filter((each) => WITH[how].has(running.state.effects[each]!.phase));
    return this.#rules.oneStep(all, n, how);
  }

  #sent(tx: number, state: TransactionState, ns: readonly number[], how: 'call' | 'undo'): World {
    this.#holds.sends(this.#world, tx, ns, how);
    return this.#with(tx, { state, flight: { ns, how, stage: 'sent' } });
  }

  /** The process stops asking for the outcome. */
  #silent(tx: number, ns: readonly number[]): Next[] {
    if (!this.#world.left.silences) return [];
    const { what, to } = this.#giveUp(tx, { ns, how: 'call', stage: 'given up' });
    return [{ what, to: { ...less(to, 'silences'), wasSilent: true } }];
  }

  /** That is said of each by itself. */
  #giveUp(tx: number, flight: Flight): Next {
    const [n, ...ns] = flight.ns as [number, ...number[]];
    const { what, to } = this.#log(tx, { is: 'in_doubt', n });
    return { what, to: put(to, tx, { flight: ns.length === 0 ? null : { ...flight, ns } }) };
  }

  #leave(tx: number): Next {
    const { state, order, plan, epoch } = this.#world.running[tx]!;
    const { steps } = this.#plans[plan]!;
    const touched = unfinished(state).map(
      (n): ExplorerClaim => `w${(steps[order[n]!] as PlannedEffect).on}`,
    );
    const kept = this.#rules.kept([...new Set(touched)].sort());
    return {
      what: `${tx} is left to a person`,
      to: this.#say(this.#with(tx, { isLeft: true, wasLeft: true }), tx, {
        is: 'left',
        epoch,
        kept,
      }),
    };
  }

  /**
   * The possible human decisions on unresolved effects. An operator sees the state of the sink, and
   * records it or changes it.
   */
  #decisions(): Next[] {
    const { left, running, members } = this.#world;
    if (!left.decisions) return [];
    return running.flatMap((one, tx) => {
      if (!isLive(one) || !members[one.member]!.view.isLeft(one.epoch)) return [];
      return this.#holds.waiting(one).flatMap((n) => this.#decisionsOn(tx, n));
    });
  }

  #decisionsOn(tx: number, n: number): Next[] {
    const running = this.#world.running[tx]!;
    const { state, order } = running;
    const step = order[n]!;
    const [calls, undos] = running.acts[step]!;
    const isCommitted = this.#holds.isWanted(running, step);
    const isThere = calls > undos;
    const next = [this.#decided(this.#world, tx, n, isThere ? 'applied' : 'undone', '')];
    next.push(this.#decided(this.#world, tx, n, 'residue', ''));
    // By hand, where that was not done before: in the model nothing happens twice.
    if (isCommitted && calls === 0)
      next.push(
        this.#decided(
          this.#acted(this.#world, tx, step, 'call'),
          tx,
          n,
          'applied',
          ', made so by hand',
        ),
      );
    if (!isCommitted && isThere)
      next.push(
        this.#decided(
          this.#acted(this.#world, tx, step, 'undo'),
          tx,
          n,
          'undone',
          ', made so by hand',
        ),
      );
    const retry = retryOf(state, n);
    const isSafe = retry === 'freely' || (retry === 'confirmed' && isThere !== isCommitted);
    if (isSafe) next.push(this.#decided(this.#world, tx, n, 'retry', ''));
    return next;
  }

  #decided(world: World, tx: number, n: number, as: Decision, how: string): Next {
    const { state, order, epoch, member, plan, decided } = world.running[tx]!;
    const { fence } = world.members[member]!.view;
    const owned = this.#say(less(world, 'decisions'), tx, { is: 'own', epoch, fence });
    const step = order[n]!;
    const isOfSeveral = (this.#plans[plan]!.steps[step] as PlannedEffect).with !== undefined;
    const to = put(owned, tx, {
      isLeft: false,
      state: this.#rules.recorded(state, { is: 'resolved', n, as }),
      ...(isOfSeveral && as !== 'retry' && { decided: [...new Set([...decided, step])].sort() }),
    });
    return { what: `a person says that ${tx}.${order[n]} is ${as}${how}`, to };
  }

  /** The next thing that the body does. */
  #body(tx: number): Next[] {
    const { body: at, plan, state, epoch, order } = this.#world.running[tx]!;
    const body = at!;
    const { steps, ends, reading, epoch: taken } = this.#plans[plan]!;
    if (body.isAsking) return [];
    if (body.refused !== undefined) return [this.#abort(tx, body.refused)];
    if (this.#holds.hasFailed(state)) return [this.#abort(tx, 'a call failed')];
    const step = steps[body.at];
    if (step === undefined) {
      const loser = order.findIndex(
        (each, n) =>
          (steps[each] as PlannedEffect).loses === true && state.effects[n]!.isDiscarded !== true,
      );
      if (loser !== -1) return [this.#log(tx, { is: 'discarded', n: loser })];
      if (ends === 'throw') return [this.#abort(tx, 'its body throws')];
      if (epoch === 0) return [this.#begin(tx, this.#world)];
      return this.#gate(tx, body, reading === 'optimistic' || taken === 'late');
    }
    if (isEffect(step)) return this.#effect(tx, body, step);
    if ('reads' in step) return this.#read(tx, body, resourcesOf(step.reads), `r${step.reads}`);
    if ('expands' in step) return this.#expand(tx, body, this.#rules.claims(step.expands));
    const to = this.#withBody(tx, {
      ...body,
      at: body.at + 1,
      isAsking: this.#world.members.length > 1,
    });
    return [
      {
        what: `${tx} gives up ${step.releases}`,
        to: this.#say(to, tx, { is: 'given', epoch, claims: step.releases }),
      },
    ];
  }

  #effect(tx: number, body: Body, { class: kind, on, loses }: PlannedEffect): Next[] {
    const { state, order, plan } = this.#world.running[tx]!;
    const { steps } = this.#plans[plan]!;
    if (isPivot(kind) && body.planned.some((at) => isPivot((steps[at] as PlannedEffect).class)))
      return [this.#abort(tx, 'second_pivot')];
    const isHeld = kind.delivery === 'buffered' || kind.reversibility === 'irreversible';
    if (isHeld) {
      const planned = loses === true ? body.planned : [...body.planned, body.at];
      const to = this.#withBody(tx, { ...body, at: body.at + 1, planned });
      // A crash forgets it: before it and after it are one.
      return [{ what: `${tx} plans ${body.at}`, to, isPrivate: !this.#world.left.lapses }];
    }
    return this.#enter(tx, [`w${on}`], (world) => ({
      what: `${tx} intends ${body.at}`,
      to: put(world, tx, {
        state: this.#rules.recorded(state, { is: 'intended', class: kind }),
        isLogged: true,
        order: [...order, body.at],
        flight: { ns: [order.length], how: 'call', stage: 'sent' },
      }),
    }));
  }

  #read(tx: number, body: Body, resources: readonly Resource[], claim: ExplorerClaim): Next[] {
    const { plan } = this.#world.running[tx]!;
    const { reading, epoch } = this.#plans[plan]!;
    const read = (world: World): Next => {
      const seen = resources.map((at) => [at, world.done[at].stands] as const);
      const to = put(world, tx, {
        body: { ...body, at: body.at + 1, seen: [...body.seen, ...seen] },
      });
      return { what: `${tx} reads ${resources}`, to };
    };
    const waits = reading !== 'optimistic' && epoch !== 'late';
    return waits ? this.#enter(tx, [claim], read) : [read(this.#world)];
  }

  #expand(tx: number, body: Body, claims: readonly ExplorerClaim[]): Next[] {
    const { epoch, member } = this.#world.running[tx]!;
    const { view } = this.#world.members[member]!;
    if (view.isInDoubt(claims)) return [this.#abort(tx, 'resource_in_doubt')];
    const to = this.#withBody(tx, { ...body, at: body.at + 1, isAsking: true });
    return [
      { what: `${tx} claims ${claims}`, to: this.#say(to, tx, { is: 'grown', epoch, claims }) },
    ];
  }

  /** Acquires all claims of the transaction, and validates its optimistic reads there. */
  #gate(tx: number, body: Body, isGuessing: boolean): Next[] {
    const running = this.#world.running[tx]!;
    const { claims, epoch, member } = running;
    if (body.isAtGate) return [this.#commit(this.#world, tx, body)];
    return this.#enter(tx, this.#world.members[member]!.view.claimsOf(epoch)!, (world) => {
      if (!isGuessing) return this.#commit(world, tx, body);
      const isStale = body.seen.some(([at, then]) =>
        this.#rules.hasChanged(then, world.done[at].stands),
      );
      const refused = isStale ? { refused: 'stale' as const } : {};
      const again = isStale ? { again: claims } : {};
      return {
        what: `${tx} reads again`,
        to: put(world, tx, { body: { ...body, isAtGate: true, ...refused }, ...again }),
      };
    });
  }

  #commit(world: World, tx: number, body: Body): Next {
    const { plan, state, order, epoch } = world.running[tx]!;
    const { steps, hasOnFailure } = this.#plans[plan]!;
    this.#holds.committed(world, epoch, body);
    const planned = body.planned.map((at) => (steps[at] as PlannedEffect).class);
    const record: EffectRecord = {
      is: 'committed',
      planned,
      ...(hasOnFailure && { hasOnFailure }),
    };
    const to = put(world, tx, {
      state: this.#rules.recorded(state, record),
      isLogged: true,
      order: [...order, ...body.planned],
      body: null,
      again: null,
      isCommitted: true,
    });
    const done = { ...to.done };
    for (const [at] of body.seen)
      done[at] = { ...done[at], readBy: Math.max(done[at].readBy, epoch) };
    return { what: `${tx} commits`, to: this.#freed({ ...to, done }, tx) };
  }

  /** Once it may act there; refused where something there waits for a person. */
  #enter(tx: number, claims: readonly ExplorerClaim[], then: (world: World) => Next): Next[] {
    const { epoch, member } = this.#world.running[tx]!;
    const before = this.#world.members[member]!.view;
    const { view, outcome } = before.say({ is: 'enter', epoch, claims });
    if (!this.#rules.isClear(outcome === true, before, epoch, claims)) {
      if (this.#world.members.length === 1) this.#holds.waits(this.#world, tx, claims);
      return [];
    }
    const world = setMember(this.#world, member, { view });
    return [view.isInDoubt(claims) ? this.#abort(tx, 'resource_in_doubt', world) : then(world)];
  }

  #abort(tx: number, why: string, world: World = this.#world): Next {
    const { state, isLogged } = world.running[tx]!;
    const what = `${tx} aborts: ${why}`;
    if (!isLogged) return { what, to: this.#ended(world, tx) };
    const to = put(world, tx, {
      state: this.#rules.recorded(state, { is: 'aborting' }),
      body: null,
    });
    return { what, to: this.#freed(to, tx) };
  }

  #log(tx: number, record: EffectRecord): Next {
    const running = this.#world.running[tx]!;
    const { state } = running;
    const to = this.#rules.recorded(state, record);
    const what = `${tx} logs ${record.is}${'n' in record ? ` ${record.n}` : ''}`;
    if (record.is === 'settled' || record.is === 'aborted')
      return { what, to: this.#ended(this.#with(tx, { state: to }), tx) };
    const isPrivate = this.#isCalm && record.is !== 'aborting';
    if (record.is !== 'applying' && record.is !== 'undoing')
      return {
        what,
        to: this.#with(tx, { state: to, ...(record.is === 'aborting' && { body: null }) }),
        isPrivate,
      };
    const how = record.is === 'applying' ? 'call' : 'undo';
    const ns = this.#oneStep(running, record.n, how);
    const others = ns.filter((n) => n !== record.n && state.effects[n]!.phase !== record.is);
    const all = others.reduce(
      (before, n) => this.#rules.recorded(before, { is: record.is, n }),
      to,
    );
    return {
      what: others.length === 0 ? what : `${what} and ${others}`,
      to: this.#sent(tx, all, ns, how),
      isPrivate,
    };
  }

  /** Whether no crash can lose memory any more and only its own process handles an attempt. */
  get #isCalm(): boolean {
    const { left, members } = this.#world;
    return left.crashes === 0 && members.length === 1;
  }

  /** Nothing of it is left to be done. All learn of this. */
  #ended(world: World, tx: number): World {
    const running = world.running[tx]!;
    const { plan, epoch, again, retries } = running;
    this.#holds.ended(running);
    const said = epoch === 0 ? world : this.#say(world, tx, { is: 'ended', epoch });
    const rest = put(said, tx, endedOf(running));
    if (again === null || retries === 0) return rest;
    const next = unbegun(plan, this.#plans[plan]!, [...new Set(again)], retries - 1);
    return { ...rest, running: [...rest.running, next] };
  }

  #freed(world: World, tx: number): World {
    const { state, epoch } = world.running[tx]!;
    return this.#rules.isFree(state) ? this.#say(world, tx, { is: 'over', epoch }) : world;
  }

  /** The possible results of a call, and the records that its answer leads to. */
  #fly(tx: number): Next[] {
    const { flight, state, order, body } = this.#world.running[tx]!;
    const { ns, how, stage } = flight!;
    const steps = ns.map((n) => order[n]!);
    const name = `${tx}.${steps} ${how}`;
    if (stage !== 'sent') {
      const records = answered(flight!, state, this.#rules.spared);
      const goesOn = records[0]!.is === 'executed' && body !== null;
      const to = {
        state: records.reduce((before, record) => this.#rules.recorded(before, record), state),
        flight: null,
        ...(goesOn && { body: { ...body, at: body.at + 1 } }),
      };
      const said = records.map(({ is }) => is).join(' and ');
      return [{ what: `${name}: logged ${said}`, to: this.#with(tx, to), isPrivate: this.#isCalm }];
    }
    const { left } = this.#world;
    const done = this.#actedAll(this.#world, tx, steps, how);
    const next: Next[] = [
      { what: `${name}: happens`, to: put(done, tx, { flight: { ns, how, stage: 'done' } }) },
    ];
    if (left.losses > 0) {
      next.push({
        what: `${name}: happens, its answer is lost`,
        to: less(put(done, tx, { flight: null }), 'losses'),
      });
      next.push({ what: `${name}: is lost`, to: less(this.#with(tx, { flight: null }), 'losses') });
    }
    // A sink with keys answers again as it did, when it has done it.
    const refuse = (stage: 'refused' | 'refused for good', kind: 'refusals' | 'finals'): void => {
      // For all of them, or since it is so for one.
      for (const of of ns.length === 1 ? [undefined] : [undefined, ...ns]) {
        const to = this.#with(tx, { flight: { ns, how, stage, ...(of !== undefined && { of }) } });
        next.push({
          what: `${name}: ${stage}${of === undefined ? '' : ` for ${order[of]}`}`,
          to: less(to, kind),
        });
      }
    };
    if (left.refusals > 0 && done !== this.#world) refuse('refused', 'refusals');
    if (left.finals && done !== this.#world && how === 'call') refuse('refused for good', 'finals');
    return next;
  }

  #ask(tx: number, n: number): Next {
    const { state, order, body, acts } = this.#world.running[tx]!;
    const { phase } = state.effects[n]!;
    const [calls, undos] = acts[order[n]!]!;
    const has = (phase === 'undoing' ? undos : calls) > 0;
    const is = !has
      ? 'absent'
      : phase === 'undoing'
        ? 'undone'
        : phase === 'intended'
          ? 'executed'
          : 'applied';
    const goesOn = is === 'executed' && body !== null;
    const to = {
      state: this.#rules.recorded(state, { is, n }),
      ...(goesOn && { body: { ...body, at: body.at + 1 } }),
    };
    return {
      what: `${tx}.${order[n]}: the sink says ${is}`,
      to: this.#with(tx, to),
      isPrivate: this.#isCalm,
    };
  }

  /** The effects of one step become visible together. */
  #actedAll(world: World, tx: number, steps: readonly number[], how: 'call' | 'undo'): World {
    const inOrder = how === 'call' ? steps : steps.toReversed();
    const to = inOrder.reduce((before, step) => this.#acted(before, tx, step, how), world);
    this.#holds.seen(to, tx);
    return to;
  }

  /** A sink with keys does it once. */
  #acted(world: World, tx: number, step: number, how: 'call' | 'undo'): World {
    const running = world.running[tx]!;
    const { class: kind, on } = this.#plans[running.plan]!.steps[step] as PlannedEffect;
    const [calls, undos] = running.acts[step]!;
    if (kind.sink === 'keyed' && (how === 'call' ? calls : undos) > 0) return world;
    this.#holds.acts(world, tx, step, how);
    const now = how === 'call' ? ([calls + 1, undos] as const) : ([calls, undos + 1] as const);
    const to = put(world, tx, { acts: running.acts.map((each, at) => (at === step ? now : each)) });
    const done = { ...to.done };
    for (const at of resourcesOf(on)) done[at] = this.#doneAt(done[at], running.epoch, how);
    return { ...to, done };
  }

  #doneAt({ latest, readBy, stands }: Done, epoch: number, how: 'call' | 'undo'): Done {
    const standing =
      how === 'call' ? [...stands, epoch] : stands.toSpliced(stands.lastIndexOf(epoch), 1);
    return { latest: Math.max(latest, epoch), readBy, stands: this.#isRead ? standing : stands };
  }

  /** A process ends: all that it had in memory is gone. */
  #crashes(): Next[] {
    const { left, members, last } = this.#world;
    if (left.crashes === 0 || last === 0) return [];
    return members.flatMap(({ isIn }, m) =>
      isIn
        ? [
            {
              what: members.length === 1 ? 'crash' : `process ${m} crashes`,
              to: less(this.#crashed(m), 'crashes'),
            },
          ]
        : [],
    );
  }

  #crashed(m: number): World {
    const ghosts = this.#ghostsOf(m);
    const wiped = this.#world.running.map((one) =>
      one.member === m && !one.isEnded ? forgotten(one) : one,
    );
    const world = setMember({ ...this.#world, running: wiped, ghosts }, m, {
      isIn: false,
      inbox: [],
    });
    return world.members.some(({ isIn }) => isIn) ? world : this.#reopened(world, m);
  }

  /**
   * The process that opens the log finds and owns all open attempts. An attempt that is not logged
   * has had no effect.
   */
  #reopened(world: World, m: number): World {
    const running = world.running.map((one) =>
      isLive(one) && !one.isLogged ? endedOf(one) : { ...one, member: m, isLeft: false },
    );
    const alone = world.members.length === 1;
    const last = alone
      ? Math.max(0, ...running.filter(({ isLogged }) => isLogged).map(({ epoch }) => epoch))
      : world.last;
    const { fence } = world.members[m]!.view;
    let view = this.#views.begin(fence, alone ? last : 0);
    for (const { epoch, claims } of running.filter(isLive).sort((a, b) => a.epoch - b.epoch))
      view = view.say({ is: 'begun', epoch, fence, claims, isHere: alone }).view;
    return setMember({ ...world, running, last }, m, { view, isIn: true });
  }

  /**
   * Calls in flight to keyed sinks may arrive at any later time. The runtime ensures that calls to
   * all other sinks have ended by then.
   */
  #ghostsOf(m: number): World['ghosts'] {
    const { running, ghosts, members } = this.#world;
    if (members.length === 1) return ghosts;
    const mine = running.flatMap(({ member, flight, order, plan }, tx) => {
      if (member !== m || flight?.stage !== 'sent') return [];
      const steps = flight.ns.map((n) => order[n]!);
      const { class: kind } = this.#plans[plan]!.steps[steps[0]!] as PlannedEffect;
      return this.#rules.comesLate(kind) ? [{ tx, steps, how: flight.how }] : [];
    });
    return [...ghosts, ...mine];
  }

  #land(i: number): Next {
    const { ghosts } = this.#world;
    const { tx, steps, how } = ghosts[i]!;
    const rest = { ...this.#world, ghosts: ghosts.toSpliced(i, 1) };
    // The outcome is known and final: the sink has the key.
    const to = rest.running[tx]!.isEnded ? rest : this.#actedAll(rest, tx, steps, how);
    return { what: `${tx}.${steps} ${how}: comes late`, to };
  }

  /** Another process adopts the attempts of a process that has ended. */
  #takeOver(m: number): Next[] {
    const { members, running } = this.#world;
    const isOrphan = running.some((one) => isLive(one) && one.member === m);
    const heir = members.findIndex(({ isIn }) => isIn);
    if (members[m]!.isIn || !isOrphan || heir === -1) return [];
    return [
      { what: `process ${heir} takes over from ${m}`, to: this.#taken(this.#world, m, heir) },
    ];
  }

  #taken(world: World, m: number, heir: number): World {
    const [gone, fence] = [world.members[m]!.view.fence, world.members[heir]!.view.fence];
    const isOrphan = (one: Running): boolean => one.member === m && isLive(one);
    const left = world.running
      .filter((one) => isOrphan(one) && one.isLeft)
      .map(({ epoch }) => epoch);
    const running = world.running.map((one) =>
      isOrphan(one) ? { ...one, member: heir, isLeft: false } : one,
    );
    return {
      ...world,
      running,
      members: handedOver(world.members, gone, { fence, by: heir }, left),
    };
  }

  /**
   * The lease of a running process expires. Another process adopts its attempts immediately, and
   * the running process has not learned of it.
   */
  #lapses(): Next[] {
    const { left, members } = this.#world;
    if (!left.lapses) return [];
    return members.flatMap(({ isIn }, m) => {
      const heir = members.findIndex((other, at) => at !== m && other.isIn);
      if (!isIn || heir === -1) return [];
      return [
        { what: `the lease of process ${m} runs out`, to: less(this.#lapsed(m, heir), 'lapses') },
      ];
    });
  }

  #lapsed(m: number, heir: number): World {
    const { view } = this.#world.members[m]!;
    const zombies = this.#world.running.flatMap((one, tx): Zombie[] => {
      const { member, state, body, flight } = one;
      const stays = flight?.stage === 'sent' ? null : flight;
      return isLive(one) && member === m && (body !== null || stays !== null)
        ? [{ tx, state, body, flight: stays, view }]
        : [];
    });
    const world = this.#crashed(m);
    const lapsed = { ...world, zombies: [...world.zombies, ...zombies] };
    return lapsed.running.some((one) => isLive(one) && one.member === m)
      ? this.#taken(lapsed, m, heir)
      : lapsed;
  }

  /** The write of a process that has lost its membership. */
  #late(zombie: Zombie): Next {
    const { tx, flight, body, state } = zombie;
    const zombies = this.#world.zombies.filter((each) => each !== zombie);
    const what = `the process that had ${tx} writes`;
    const rest = { ...this.#world, zombies };
    const running = rest.running[tx]!;
    if (this.#rules.isFenced || running.isEnded)
      return { what: `${what}, and is fenced`, to: rest };
    if (flight !== null) {
      const records = answered(flight, state, this.#rules.spared);
      const to = records.reduce(
        (before, record) => this.#rules.recorded(before, record),
        running.state,
      );
      return { what, to: put(rest, tx, { state: to }) };
    }
    const { steps } = this.#plans[running.plan]!;
    const { view } = zombie;
    const { epoch } = running;
    const claims = view.claimsOf(epoch);
    const mayAct =
      claims !== undefined && view.say({ is: 'enter', epoch, claims }).outcome === true;
    const commits = body !== null && body.at === steps.length && mayAct;
    return commits
      ? { ...this.#commit(put(rest, tx, { state }), tx, body), what }
      : { what, to: rest };
  }

  #with(tx: number, change: Partial<Running>): World {
    return put(this.#world, tx, change);
  }

  #withBody(tx: number, body: Body): World {
    return this.#with(tx, { body });
  }
}

/** Places where several are one step, as tools name them. */
const AT: Readonly<Record<Together | 'alone', { readonly batch?: any }>> = {
  a: { batch: { at: {} } },
  b: { batch: { at: {} } },
  alone: {},
};

/** Phases of effects that are called or compensated together with another effect. */
const WITH: { readonly [how in 'call' | 'undo']: ReadonlySet<EffectPhase> } = {
  call: new Set(['due', 'applying']),
  undo: new Set(['executed', 'undoing']),
};

/** The log records for an answer, one for each effect of the call. */
function answered(
  { ns, stage, of }: Flight,
  { effects }: TransactionState,
  spared: Rules['spared'],
): readonly EffectRecord[] {
  return ns.map((n): EffectRecord => {
    const isRefused = stage === 'refused' || stage === 'refused for good';
    if (isRefused && of !== undefined && of !== n) return spared(n);
    if (isRefused)
      return stage === 'refused' ? { is: 'failed', n } : { is: 'failed', n, final: true };
    const { phase } = effects[n]!;
    return {
      is: phase === 'undoing' ? 'undone' : phase === 'intended' ? 'executed' : 'applied',
      n,
    };
  });
}

/** Without what is in memory. One that is late is forgotten with its body. */
function forgotten(one: Running): Running {
  if (one.epoch === 0 && one.body !== null) return endedOf(one);
  return { ...one, body: null, flight: null, again: null };
}

function put(world: World, tx: number, change: Partial<Running>): World {
  return {
    ...world,
    running: world.running.map((one, n) => (n === tx ? { ...one, ...change } : one)),
  };
}

function setMember(world: World, m: number, change: Partial<World['members'][number]>): World {
  return {
    ...world,
    members: world.members.map((one, at) => (at === m ? { ...one, ...change } : one)),
  };
}

function less(world: World, kind: keyof Trouble): World {
  return { ...world, left: { ...world.left, [kind]: world.left[kind]! - 1 } };
}
