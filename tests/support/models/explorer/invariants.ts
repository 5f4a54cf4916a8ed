/** The invariants of every execution. Each is checked at each step that could break it. */
import {
  EFFECT_ATTEMPTS,
  type EffectPhase,
  isPivot,
  isUnresolved,
  type TransactionState,
  unfinished,
} from '#effects';
import { type ExplorerClaim, meet, type Resource, resourcesOf } from './view.ts';
import { Broken } from './walk.ts';
import {
  type Body,
  isEffect,
  isLive,
  type Plan,
  type PlannedEffect,
  type Running,
  type Together,
  type World,
} from './world.ts';

export class Invariants {
  readonly #plans: readonly Plan[];
  readonly #way: () => readonly string[];

  constructor(plans: readonly Plan[], way: () => readonly string[]) {
    this.#plans = plans;
    this.#way = way;
  }

  /** Before a sink does something. */
  acts(world: World, tx: number, step: number, how: 'call' | 'undo'): void {
    const running = world.running[tx]!;
    const { on, class: kind } = this.#effect(running, step);
    const [calls, undos] = running.acts[step]!;
    const name = `${tx}.${step}`;
    if ((how === 'call' ? calls : undos) > 0) this.#broken(`${name} has happened twice`);
    if (kind.reversibility === 'irreversible') {
      if (!running.isCommitted) this.#broken(`${name} can't be undone, and is not committed`);
      if (how === 'undo') this.#broken(`${name} is undone`);
      if (!this.#isLast(running)) this.#broken(`${name} is not last`);
    }
    if (isPivot(kind) && !isAfterAll(running, step))
      this.#broken(`${name} is the pivot, and something of it may still fail`);
    if (running.answers.includes('made'))
      this.#broken(`${tx} acts after what it did is answered for`);
    for (const at of resourcesOf(on)) this.#actsAt(world, tx, at);
  }

  /**
   * Checks the calls of one step before they are sent. No call follows a permanent refusal or the
   * maximum number of attempts.
   */
  sends(world: World, tx: number, ns: readonly number[], how: 'call' | 'undo'): void {
    const running = world.running[tx]!;
    const { effects } = running.state;
    for (const n of ns) {
      const name = `${tx}.${running.order[n]}`;
      const { isFinal, failures } = effects[n]!;
      if (how === 'call' && (isFinal === true || failures >= EFFECT_ATTEMPTS))
        this.#broken(`${name} is sent again`);
      const left = this.#waitsWith(running, n);
      if (left !== undefined)
        this.#broken(`${name} is sent, and ${tx}.${running.order[left]} waits for a person`);
    }
  }

  /**
   * A reader sees all effects of one step or no effect of it, except effects that a human has
   * resolved separately.
   */
  seen(world: World, tx: number): void {
    const { plan, acts, decided } = world.running[tx]!;
    const there = new Map<Together, boolean>();
    for (const [at, step] of this.#plans[plan]!.steps.entries()) {
      if (!isEffect(step) || step.with === undefined || step.loses === true || decided.includes(at))
        continue;
      const [calls, undos] = acts[at]!;
      const is = calls > undos;
      if ((there.get(step.with) ?? is) !== is)
        this.#broken(`a part of ${tx} at ${step.with} is seen`);
      there.set(step.with, is);
    }
  }

  /** Others that are one step with it, by their places in the log. */
  #mates(running: Running, n: number): number[] {
    const { order } = running;
    const place = this.#effect(running, order[n]!).with;
    if (place === undefined) return [];
    return order.flatMap((step, at) =>
      at !== n && this.#effect(running, step).with === place ? [at] : [],
    );
  }

  /**
   * Effects act in the order of epochs, one at a time, and never after a read by a higher epoch.
   */
  #actsAt(world: World, tx: number, at: Resource): void {
    const { epoch } = world.running[tx]!;
    const { latest, readBy } = world.done[at];
    for (const [n, other] of world.running.entries()) {
      if (n === tx || !isLive(other)) continue;
      // An attempt that needs a human decision keeps its unfinished effects, and nothing else.
      const counts = other.wasLeft ? unfinished(other.state) : other.order.map((_, n) => n);
      if (counts.some((each) => this.#hasActed(other, other.order[each]!, at)))
        this.#broken(`${tx} acts on ${at}, where ${n} is not done yet`);
    }
    if (latest > epoch) this.#broken(`${tx} acts on ${at} after epoch ${latest}, which is younger`);
    if (readBy > epoch)
      this.#broken(`${tx} acts on ${at}, where epoch ${readBy} has read, which is younger`);
  }

  #hasActed(running: Running, step: number, at: Resource): boolean {
    return running.acts[step]![0] > 0 && resourcesOf(this.#effect(running, step).on).includes(at);
  }

  /** The transaction's reads equal the reads of a serial execution in the order of epochs. */
  committed({ done }: World, epoch: number, { seen }: Body): void {
    for (const [at, epochs] of seen) {
      const shall = done[at].stands.filter((each) => each < epoch);
      const is = epochs.filter((each) => each !== epoch);
      if (is.join() !== shall.join())
        this.#broken(
          `epoch ${epoch} has read what ${is.join(' and ') || 'nobody'} did at ${at}, and not ${shall.join(' and ') || 'nobody'}`,
        );
    }
  }

  /**
   * A waiting transaction waits for an active transaction with a lower epoch and an overlapping
   * claim.
   */
  waits(world: World, tx: number, claims: readonly ExplorerClaim[]): void {
    const { epoch, member } = world.running[tx]!;
    const { view } = world.members[member]!;
    const isHeldUp = world.running.some(
      (other) =>
        isLive(other) &&
        other.epoch < epoch &&
        !view.isLeft(other.epoch) &&
        view.claimsOf(other.epoch)?.some((one) => claims.some((claim) => meet(one, claim))),
    );
    if (!isHeldUp) this.#broken(`${tx} waits, and nobody who is older is there`);
  }

  /** The invariants of a world without further moves. Refusals are fewer than attempts. */
  stopped(world: World): void {
    for (const [tx, running] of world.running.entries()) {
      if (running.isEnded) continue;
      if (!isLive(running)) this.#broken(`${tx} never begins`);
      if (!world.members[running.member]!.view.isLeft(running.epoch))
        this.#broken(`${tx} never ends`);
      const isBlind = this.#plans[running.plan]!.steps.some(
        (step) => isEffect(step) && step.class.sink === 'blind',
      );
      if (!isBlind && !world.wasSilent && !this.#mayWait(running))
        this.#broken(`${tx} waits for a person`);
      this.#over(running, true);
    }
  }

  /** Nothing of it is left to be done. */
  ended(running: Running): void {
    this.#over(running, false);
  }

  #over(running: Running, isStuck: boolean): void {
    this.#checkFailing(running);
    for (const [at, step] of this.#plans[running.plan]!.steps.entries())
      if (isEffect(step)) this.#checkEffect(running, at, isStuck);
  }

  /**
   * After a permanent failure an attempt may need a human decision if it has no `onFailure`, or an
   * irreversible effect was applied. The same holds if the failure proposal was rejected.
   */
  #mayWait({ plan, state, answers }: Running): boolean {
    const hasFailed = state.effects.some(({ phase }) => phase === 'unresolved');
    const isBeyond = state.effects.some(
      ({ class: { reversibility }, phase }) =>
        reversibility === 'irreversible' && phase === 'applied',
    );
    return (
      hasFailed &&
      (this.#plans[plan]!.hasOnFailure !== true || isBeyond || answers.includes('rejected'))
    );
  }

  /**
   * After a failure, the transaction is compensated and `onFailure` handles it, or a human resolves
   * it. A failure never follows an irreversible effect.
   */
  #checkFailing({ plan, epoch, state, answers }: Running): void {
    const name = `${plan} of epoch ${epoch}`;
    const { failing, phase, effects } = state;
    if (answers.filter((answer) => answer === 'made').length > 1)
      this.#broken(`${name} is answered for twice`);
    if (failing === undefined) {
      if (answers.length > 0) this.#broken(`${name} is answered for, and has not failed`);
      return;
    }
    const isAnswered = answers.at(-1) === 'made' || failing.isWaived === true;
    if (phase === 'settled' && !isAnswered)
      this.#broken(`${name} has failed, and nothing answers for it`);
    const beyond = effects.findIndex(
      (effect) => effect.class.reversibility === 'irreversible' && effect.phase === 'applied',
    );
    if (beyond !== -1) this.#broken(`${name} has failed after ${beyond}, which can't be undone`);
  }

  #checkEffect(running: Running, step: number, isStuck: boolean): void {
    const n = running.order.indexOf(step);
    const phase = n === -1 ? undefined : running.state.effects[n]!.phase;
    // The operator sees the real state of the sink and decides by it.
    if (phase !== undefined && (isUnresolved(phase) || phase === 'accepted')) return;
    const [calls, undos] = running.acts[step]!;
    const there = calls - undos;
    // A pivot waits for an unresolved effect, and so do the other effects of that effect's batch.
    const isHeldUp = phase === 'due' && isStuck;
    if (isStuck && !isHeldUp && n !== -1 && this.#waitsWith(running, n) !== undefined) return;
    const expected = this.isWanted(running, step) && phase !== 'undone' && !isHeldUp ? 1 : 0;
    if (there !== expected)
      this.#broken(
        `${running.plan}.${step} of epoch ${running.epoch} is there ${there} times, not ${expected}`,
      );
  }

  /** Whether it is to be there in the end. */
  isWanted({ plan, isCommitted, state }: Running, step: number): boolean {
    return (
      isCommitted &&
      state.failing === undefined &&
      (this.#plans[plan]!.steps[step] as PlannedEffect).loses !== true
    );
  }

  /** Whether the body learns that a call was dropped or has an unknown outcome. */
  hasFailed({ effects }: TransactionState): boolean {
    return effects.some(
      ({ phase, isDiscarded }) =>
        isDiscarded !== true && (phase === 'dropped' || isUnresolved(phase)),
    );
  }

  /** Effects that wait for a person. */
  waiting({ state }: Running): number[] {
    return state.effects.flatMap(({ phase }, n) => (isUnresolved(phase) ? [n] : []));
  }

  /**
   * Whether every compensatable effect has been applied, was escalated to a human, or waits in a
   * batch with an unresolved effect.
   */
  #isLast(running: Running): boolean {
    return running.state.effects.every(
      ({ phase }, n) =>
        phase === 'applied' ||
        wasLeft(phase) ||
        this.#isForGood(running, n) ||
        this.#waitsWith(running, n) !== undefined,
    );
  }

  /**
   * An effect in one batch with an irreversible effect is irreversible too, once the batch is
   * executed.
   */
  #isForGood(running: Running, n: number): boolean {
    const all = [n, ...this.#mates(running, n)];
    return all.some((each) => running.state.effects[each]!.class.reversibility === 'irreversible');
  }

  /** One that waits for a person, of those that are one step with it. */
  #waitsWith(running: Running, n: number): number | undefined {
    return this.#mates(running, n).find((each) => isUnresolved(running.state.effects[each]!.phase));
  }

  #effect({ plan }: Running, step: number): PlannedEffect {
    return this.#plans[plan]!.steps[step] as PlannedEffect;
  }

  #broken(what: string): never {
    throw new Broken(what, this.#way());
  }
}

/** Left to a person, or decided by one to be otherwise than the transaction would have it. */
function wasLeft(phase: EffectPhase): boolean {
  return isUnresolved(phase) || phase === 'accepted' || phase === 'undone';
}

/** Whether all else has ended, by itself or as a person has decided. */
function isAfterAll({ state, order }: Running, step: number): boolean {
  return state.effects.every(
    ({ phase }, n) => order[n] === step || ['applied', 'undone', 'accepted'].includes(phase),
  );
}
