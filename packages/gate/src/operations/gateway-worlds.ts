import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { setImmediate as yielded } from 'node:timers/promises';
import { SERVER, type SystemWrits } from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import { addMicros, contentHash, type Instant } from 'assize/internal/canon';
import { type Domain, UPGRADE_ACTION } from 'assize/internal/kernel';
import {
  type BranchPayload,
  type Hash,
  isEffectPending,
  type PendingPayload,
  Replayer,
  type RootPayload,
  readRow,
} from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import type { Assize, Ruling, Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { type NewestRules, upgradeGateway } from '#calls';
import {
  BEGIN_HOURS,
  type CallRow,
  type Configuration,
  configuration,
  fileText,
  type Gap,
  GatewayError,
  type GatewayState,
  type GatewayTool,
  isConfigured,
  isTidyForEver,
  needsTidy,
  type PinArgs,
  pinsUnasked,
  type Rules,
  rulesDigest,
  rulesInForce,
  type TrialSet,
  unrecordedFileOf,
} from '#gateway';

/** Trajectories that are looked at before other work of the process has its turn. */
const SLICE = 50;

/** Refusals that no later attempt changes: the trajectory takes no proposal of this server. */
const FINAL: readonly string[] = [
  'concluded',
  'domain_mismatch',
  'imported_trajectory',
  'invalid_ledger',
];

export interface GatewayWorldsOptions {
  readonly assize: Assize;
  readonly store: Store;
  readonly clock: Clock;
  readonly systemWrits: SystemWrits;
  /** The domain as this server has it. Absent: it has none, or several versions. */
  readonly domain?: Domain | undefined;
  /** The worlds of the configuration. */
  readonly worlds: Readonly<Record<string, { readonly domain: string }>>;
  /** The rules of the file, and the registered tools. Absent: the recorded rules stay in force. */
  readonly rules?:
    | {
        readonly rules: Rules;
        readonly tools: readonly GatewayTool[];
        readonly trial?: TrialSet | undefined;
      }
    | undefined;
  /** The rules file. Hooks of this machine note beside it which calls no server has recorded. */
  readonly rulesFile?: string | undefined;
  readonly newest: NewestRules;
  readonly onFailure: (error: unknown) => void;
}

/**
 * The trajectories of the gateway domain: the worlds of the configuration, and all others of the
 * store, such as branches and delegations. The server puts the rules of its file in force in each,
 * once after its start: before the first proposal there, and otherwise in the background. Of
 * several servers with different files, the one that started last decides, and the others leave its
 * rules alone.
 */
export class GatewayWorlds {
  readonly #options: GatewayWorldsOptions;
  /** The file of the server's own rules, as it was at the start. Undefined: it has none. */
  readonly #file: string | undefined;
  readonly #replayer: Replayer;
  /** Undefined: the server has no rules of its own. @throws GatewayError `bad_argument` */
  readonly #wanted: Configuration | undefined;
  readonly #digest: string;
  /** By name: whether a trajectory is of the domain. */
  readonly #known: Map<string, boolean> = new Map();
  /** Trajectories in which this process has nothing to do any more. */
  readonly #done: Set<string> = new Set();
  /** Trajectories without the rules: they are halted, or an approval freezes them. */
  readonly #waiting: Set<string> = new Set();
  /** The head after which time alone gives `tidy` nothing to do. */
  readonly #clean: Map<string, Hash> = new Map();
  #noting: Promise<void> | undefined;

  constructor(options: GatewayWorldsOptions) {
    const { rules, rulesFile, store } = options;
    this.#options = options;
    this.#file = rules && rulesFile && readFileSync(rulesFile, 'utf8');
    this.#replayer = new Replayer(store);
    this.#wanted = rules && configuration(rules.rules, rules.tools, rules.trial);
    this.#digest =
      rules === undefined
        ? ''
        : contentHash([
            ...[rulesDigest(rules.rules), (this.#wanted?.runs ?? []).toSorted()],
            ...(rules.trial === undefined
              ? []
              : [rulesDigest(rules.trial.rules), rules.trial.until]),
          ]);
  }

  /** The worlds of the configuration. */
  get worlds(): readonly string[] {
    const { worlds } = this.#options;
    return Object.keys(worlds).filter((name) => worlds[name]?.domain === 'gateway');
  }

  /** The rules in force in a state as a rules file: the server's own, if they are the same. */
  fileTextOf({ rules }: Pick<GatewayState, 'rules'>): string {
    const isOwn = this.#wanted !== undefined && rulesDigest(this.#wanted.rules) === rules.digest;
    return (isOwn ? this.#file : undefined) ?? fileText(rulesInForce({ rules }));
  }

  /** The trajectories that wait for the rules. */
  get waiting(): readonly string[] {
    return [...this.#waiting];
  }

  /**
   * Continues the worlds of the configuration under this version of the domain, makes the rules of
   * this server those that count, and puts them in force there.
   *
   * @throws GatewayError `bad_rules`
   */
  async start(): Promise<void> {
    const { assize, clock, newest } = this.#options;
    for (const name of this.worlds) await this.#upgrade(name);
    if (this.#wanted === undefined) return;
    await newest.claim(this.#digest, clock.now());
    for (const name of this.worlds) await this.#configure(await assize.open(name));
    await this.#recordGap();
  }

  /**
   * Puts the rules in force in a trajectory before a proposal, at the first one of this process and
   * after a resume. A trajectory of another domain is left alone.
   */
  async ready(trajectory: Trajectory): Promise<void> {
    if (this.#wanted === undefined || trajectory.domain.name !== 'gateway') return;
    await this.#attempt(trajectory.id, async () => trajectory);
    await this.#recordGap();
  }

  /** Tries again where the rules could not be put in force yet. */
  async retryWaiting(): Promise<void> {
    for (const id of [...this.#waiting])
      await this.#attempt(id, () => this.#options.assize.open(id));
  }

  /** Puts the rules in force in each trajectory of the store that this process has not seen. */
  async configureAll(signal: AbortSignal): Promise<void> {
    const { assize } = this.#options;
    if (this.#wanted === undefined) return;
    for await (const { id } of this.#all(signal)) {
      if (this.#done.has(id) || this.#waiting.has(id)) continue;
      const state = await this.#stateOf(id);
      if (state === undefined || isConfigured(state, this.#wanted)) this.#done.add(id);
      else {
        await this.#attempt(id, async () => {
          await this.#upgrade(id);
          return assize.open(id);
        });
        assize.release(id);
      }
    }
  }

  /** Drops the figures that no rule counts any more: at most one entry a day in each trajectory. */
  async tidyAll(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for await (const { id, head } of this.#all(signal)) {
      if (this.#clean.get(id) === head) continue;
      const state = await this.#stateOf(id);
      const now = clock.now();
      if (state === undefined || isTidyForEver(state)) this.#clean.set(id, head);
      else if (needsTidy(state, now))
        await this.#tidy(id, now).catch((error: unknown) => this.#failed(id, error));
    }
  }

  /**
   * Pins the definition of a tool, as the server itself. The same key always has the same answer.
   */
  async pin(
    trajectoryId: string,
    args: { readonly server: string; readonly tool: string; readonly definition: object },
    key: string,
  ): Promise<'pinned' | 'waiting' | 'refused'> {
    const trajectory = await this.#options.assize.open(trajectoryId);
    await this.ready(trajectory);
    const ruling = await this.#propose(trajectory, 'pin', 'gate', args, key);
    const known = ruling ?? (await trajectory.rulingOf(key, SERVER));
    if (known === 'halted' || known === undefined) return 'waiting';
    if (known.ruling === 'committed') return 'pinned';
    return known.ruling === 'rejected' ? 'refused' : 'waiting';
  }

  /** Records the calls that hooks let through while no server answered, in the first world. */
  async #recordGap(): Promise<void> {
    const { rulesFile, assize, onFailure } = this.#options;
    const [world] = this.worlds;
    if (rulesFile === undefined || world === undefined) return;
    const file = unrecordedFileOf(rulesFile);
    const taken = `${file}.taken`;
    if (!existsSync(file) && !existsSync(taken)) return;
    const work = async (): Promise<void> => {
      // Hooks add lines meanwhile, to a new file.
      if (!existsSync(taken)) renameSync(file, taken);
      const text = readFileSync(taken, 'utf8');
      const key = `gap ${contentHash(text)}`;
      const ruling = await this.#propose(await assize.open(world), 'gap', 'gate', gapIn(text), key);
      if (ruling !== 'halted' && ruling?.ruling !== 'frozen') rmSync(taken);
    };
    this.#noting ??= work().catch(onFailure);
    await this.#noting;
    this.#noting = undefined;
  }

  /** Closes the questions that wait in the worlds, and that no answer can let through any more. */
  async closeStale(): Promise<void> {
    for (const name of this.worlds) await this.#closeStale(await this.#options.assize.open(name));
  }

  async #closeStale(trajectory: Trajectory): Promise<void> {
    const { rules, sessions } = trajectory.state() as unknown as GatewayState;
    const now = this.#options.clock.now();
    for (const { id, payload } of trajectory.approvals.pending()) {
      if (isEffectPending(payload)) continue;
      const { action, delta } = payload.proposal;
      if (action.name === 'pin') await this.#pinTrusted(trajectory, id, payload);
      if (action.name !== 'call') continue;
      const [args, patches] = await Promise.all(
        [action.args, delta.state].map((stored) => this.#replayer.values.read(payload, stored)),
      );
      const { session = '' } = valueIn<{ readonly session?: string }>(args) ?? {};
      const rows = valueIn<readonly { readonly value?: Partial<CallRow> }[]>(patches) ?? [];
      const judgedBy = rows.map(({ value }) => value?.rules).find((digest) => digest !== undefined);
      const end = Object.hasOwn(sessions, session) ? sessions[session]?.endedAt : undefined;
      const isOver = end !== undefined && addMicros(end, BEGIN_HOURS * HOUR_MICROS) < now;
      const isOther = judgedBy !== undefined && judgedBy !== rules.digest;
      if (!isOver && !isOther) continue;
      const reason = isOther
        ? 'the rules have changed since the question; ask about the call again under another id'
        : 'the session ended more than a day ago';
      await this.#close(trajectory, id, reason);
    }
  }

  /** Pins a definition that waits, if the rules trust its server now. */
  async #pinTrusted(trajectory: Trajectory, id: Hash, payload: PendingPayload): Promise<void> {
    const read = await this.#replayer.values.read(payload, payload.proposal.action.args);
    const args = valueIn<PinArgs>(read);
    if (args === undefined || !pinsUnasked(trajectory.state() as unknown as GatewayState, args))
      return;
    if (await this.#close(trajectory, id, 'the rules trust the tool now'))
      await this.#propose(trajectory, 'pin', 'gate', args, `trusted ${id}`);
  }

  /** Closes a question. False: a person has answered first, and that counts. */
  #close(trajectory: Trajectory, id: Hash, reason: string): Promise<boolean> {
    return trajectory.approvals.reject(id, { principal: SERVER, method: 'server', reason }).then(
      () => true,
      (error: unknown) => {
        this.#failed(trajectory.id, error);
        return false;
      },
    );
  }

  /** A failure in one trajectory must not hold up the others. */
  async #attempt(id: string, opened: () => Promise<Trajectory>): Promise<void> {
    if (this.#done.has(id)) return;
    try {
      await this.#configure(await opened());
    } catch (error) {
      this.#done.add(id);
      this.#failed(id, error);
    }
  }

  async #upgrade(id: string): Promise<void> {
    const { assize, store, clock, systemWrits, domain } = this.#options;
    if (domain === undefined) return;
    const writ = systemWrits.forBuiltIn(SERVER, UPGRADE_ACTION, id, clock.now());
    await upgradeGateway(assize, id, { store, domain, writ, principal: SERVER });
  }

  async #configure(trajectory: Trajectory): Promise<void> {
    const { id } = trajectory;
    const wanted = this.#wanted as Configuration;
    const claim = await this.#options.newest.read();
    // Without a claim it is unknown whose rules count, until the next start of a server.
    if (claim === undefined) return;
    this.#waiting.delete(id);
    const key = `rules ${claim.start}`;
    // The look at the key also reads what other servers have appended.
    const isRuled =
      claim.digest !== this.#digest || (await trajectory.rulingOf(key, SERVER)) !== undefined;
    if (isRuled || isConfigured(trajectory.state() as unknown as GatewayState, wanted)) {
      this.#done.add(id);
      return;
    }
    const ruling = await this.#propose(trajectory, 'configure', 'admin', wanted, key);
    if (ruling === 'halted' || ruling?.ruling === 'frozen') this.#waiting.add(id);
    else if (ruling === undefined || ruling.ruling === 'committed') {
      this.#done.add(id);
      await this.#closeStale(trajectory);
    } else
      throw new GatewayError(
        'bad_rules',
        `The rules ${wanted.rules.id} are not in force in ${id}: ${ruling.detail}. Correct the rules, and start again.`,
        { evidence: { trajectory_id: id } },
      );
  }

  async #tidy(id: string, now: Instant): Promise<void> {
    const trajectory = await this.#options.assize.open(id);
    const key = `tidy ${now.slice(0, 10)}`;
    if ((await trajectory.rulingOf(key, SERVER)) === undefined)
      await this.#propose(trajectory, 'tidy', 'gate', {}, key);
  }

  /** Undefined: another server has proposed the same under the key. */
  async #propose(
    trajectory: Trajectory,
    action: string,
    role: string,
    args: object,
    idempotencyKey: string,
  ): Promise<Ruling | 'halted' | undefined> {
    const { systemWrits, clock } = this.#options;
    const writ = systemWrits.forAction(SERVER, action, trajectory.id, clock.now());
    try {
      return await trajectory.propose({ action, role, args, writ, idempotencyKey } as never);
    } catch (error) {
      if (isAssizeError(error, 'idempotency_conflict')) return undefined;
      if (isAssizeError(error, 'halted')) return 'halted';
      throw error;
    }
  }

  #failed(id: string, error: unknown): void {
    if (isAssizeError(error) && FINAL.includes(error.code)) return;
    // Unreachable stores and the like: another attempt can succeed.
    if (isAssizeError(error) && error.retryable) this.#done.delete(id);
    this.#options.onFailure(error);
  }

  /** The recorded state. Undefined for a trajectory that does not verify. */
  async #stateOf(id: string): Promise<GatewayState | undefined> {
    try {
      return (await this.#replayer.replay(id)).fold.state as unknown as GatewayState;
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      this.#options.onFailure(error);
      return undefined;
    }
  }

  /** Every trajectory of the domain, oldest first. */
  async *#all(signal: AbortSignal): AsyncGenerator<{ readonly id: string; readonly head: Hash }> {
    let n = 0;
    for (const { trajectory_id: id, head } of await this.#options.store.trajectories()) {
      if (signal.aborted) return;
      if (++n % SLICE === 0) await yielded();
      if (await this.#isGateway(id)) yield { id, head };
    }
  }

  async #isGateway(id: string): Promise<boolean> {
    let is = this.#known.get(id);
    if (is === undefined) {
      const [first] = await this.#options.store.entries(id, { from: 0, limit: 1 });
      is =
        first !== undefined &&
        (readRow(first).payload as RootPayload | BranchPayload).domain.name === 'gateway';
      this.#known.set(id, is);
    }
    return is;
  }
}

/** The calls that hooks have noted. A line that cannot be read counts as a call too. */
function gapIn(text: string): Gap {
  const lines = text.split('\n').filter((line) => line !== '');
  const calls = lines.map((line) => notedIn(line));
  const times = calls.flatMap(({ at }) => at ?? []).sort();
  const agents: Record<string, number> = {};
  for (const { agent = 'unknown' } of calls) agents[agent] = (agents[agent] ?? 0) + 1;
  const [from = 'unknown'] = times;
  return { from, to: times.at(-1) ?? from, calls: lines.length, agents };
}

function notedIn(line: string): { readonly at?: string; readonly agent?: string } {
  const [, at, agent] =
    /^\{"at":"([\d:.TZ-]{20,40})","agent":"(codex|claude-code)",/.exec(line) ?? [];
  return at === undefined || agent === undefined ? {} : { at, agent };
}

function valueIn<T>(read: object | undefined): T | undefined {
  return read !== undefined && 'value' in read ? (read.value as T) : undefined;
}

const HOUR_MICROS = 3_600_000_000;
