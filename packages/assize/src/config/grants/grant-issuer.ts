import {
  attenuate,
  covers,
  delegateWrit,
  issueWrit,
  type Writ,
  type WritGrant,
  writId,
} from '#authority';
import { LruCache } from '#base';
import {
  addMicros,
  canonicalize,
  contentHash,
  type Instant,
  instantFromMillis,
  instantToMillis,
  type KeyPair,
} from '#canon';
import type { LedgerReader, SideStore } from '#ledger';
import type { WritChain } from '#runtime';
import { type SealedRow, sideSecretOf } from '#stores';
import type { ResolvedGrant, ResolvedPrincipal } from '../resolved-config.ts';
import { AgentStops } from './agent-stops.ts';
import { AGENTS } from './agents-domain.ts';
import { type GrantRow, GrantRows } from './grant-rows.ts';
import { carriedBy, type GrantWrit, grantWrit, LATEST, termsOf } from './grant-writ.ts';
import { Places } from './places.ts';

/** The trajectory of incidents, unless another one is named. */
export const INCIDENTS = 'incidents';

/** The clock of another server may be behind by this much. */
const SKEW_MICROS = 10 * 60 * 1_000_000;
const CACHED_MAX = 2_000;
const BRIEF_MICROS = 60 * 60 * 1_000_000;
/** A proposal may wait this long between the issue of its writ and its ruling. */
const QUEUED_MS = 60_000;
/** The clock of the issuing server was ahead of the entry's time by this many windows at most. */
const AHEAD_MAX = 2;
const WRIT_SECONDS = 3_600;

/** An agent with its grants, or with the only writ that it may use. */
export interface GrantedAgent {
  readonly name: string;
  readonly grants: readonly ResolvedGrant[];
  /** The writ to which the agent's token is limited. Absent: the grants. */
  readonly writ?: WritChain;
}

/** A used grant that counts no more, with its writ. */
export interface GoneGrant {
  readonly row: SealedRow<GrantRow>;
  readonly whole: WritChain;
  /** Whether its agent was stopped. */
  readonly isStopped: boolean;
}

export type BriefGrant = Pick<WritGrant, 'subject' | 'actions' | 'scopes' | 'nonce'> & {
  readonly trajectory: string;
};

/** The terms of a part of a grant. */
export interface PartTerms {
  readonly subject: string;
  readonly actions?: readonly string[];
  readonly scopes?: readonly string[];
  readonly budget?: Readonly<Record<string, number>>;
}

export interface GrantIssuerOptions {
  /** The principals of the configuration, by name. */
  readonly principals: ReadonlyMap<string, ResolvedPrincipal>;
  /** Seconds after which an agent gets another writ. Default 3600. */
  readonly writSeconds?: number;
  /** The longest wait of a proposal for a decision. Its writ must outlive that. Default: never. */
  readonly waitMs?: number | 'never';
  /** Milliseconds for which a read of the stopped agents counts. Default 0. */
  readonly freshMs?: number;
}

/**
 * Issues the writs of agents from their grants. A grant becomes a writ of the root key in each
 * trajectory, and each writ that the agent gets is a child of it. So the spending under all writs
 * of the agent counts against the one budget of the grant. Every process with the same root key,
 * store and configuration issues the same writs. No key leaves the issuer.
 *
 * In a trajectory that a delegation created, only the delegated writ counts, and no grant.
 */
export class GrantIssuer {
  /** The stopped and the paused agents. They get no writ. */
  readonly stops: AgentStops;
  readonly #root: KeyPair;
  readonly #rows: GrantRows;
  readonly #places: Places;
  readonly #principals: ReadonlyMap<string, ResolvedPrincipal>;
  readonly #windowMs: number;
  readonly #waitMs: number | 'never';
  readonly #wholes: LruCache<Promise<GrantWrit>> = new LruCache(CACHED_MAX);
  readonly #shorts: LruCache<WritChain> = new LruCache(CACHED_MAX);
  /** Grants of the configuration never change. */
  readonly #hashes: WeakMap<ResolvedGrant, string> = new WeakMap();

  constructor(
    root: KeyPair,
    store: SideStore & Pick<LedgerReader, 'entries'>,
    options: GrantIssuerOptions,
  ) {
    this.#root = root;
    this.#rows = new GrantRows(store, sideSecretOf(root));
    this.#places = new Places(store);
    this.stops = new AgentStops(store, options.freshMs ?? 0);
    this.#principals = options.principals;
    this.#windowMs = (options.writSeconds ?? WRIT_SECONDS) * 1_000;
    this.#waitMs = options.waitMs ?? 'never';
  }

  /** Whether an agent has any authority in a trajectory. */
  async mayAct(agent: GrantedAgent, trajectoryId: string): Promise<boolean> {
    if (agent.writ !== undefined) return agent.writ.writ.trajectory === trajectoryId;
    const place = await this.#places.find(trajectoryId);
    if (place?.isDelegated === true) return place.delegated?.writ.subject === agent.name;
    return agent.grants.some((grant) => isFor(grant, trajectoryId));
  }

  /** All writs under which an agent may act in a trajectory: one for each grant. */
  async allFor(agent: GrantedAgent, trajectoryId: string, now: Instant): Promise<WritChain[]> {
    const only = await this.#onlyWrit(agent, trajectoryId);
    if (only !== undefined) return only;
    const wholes = await Promise.all(
      grantsIn(agent, trajectoryId).map((grant) => this.#whole(agent, grant, trajectoryId)),
    );
    return wholes.map((whole) => this.#short(agent.name, whole, now));
  }

  /**
   * A short writ for an action of an agent in a trajectory. Undefined if no grant names the
   * trajectory.
   */
  async forAgent(
    agent: GrantedAgent,
    trajectoryId: string,
    action: string,
    now: Instant,
  ): Promise<WritChain | undefined> {
    const only = await this.#onlyWrit(agent, trajectoryId);
    if (only !== undefined) return only[0];
    const whole = await this.#wholeFor(agent, trajectoryId, action);
    return whole && this.#short(agent.name, whole, now);
  }

  /**
   * A writ for an action of an agent that does not change with time, so that a repeated proposal of
   * another process is the same proposal. Undefined if no grant names the trajectory.
   */
  async lasting(
    agent: GrantedAgent,
    trajectoryId: string,
    action: string,
  ): Promise<WritChain | undefined> {
    const only = await this.#onlyWrit(agent, trajectoryId);
    if (only !== undefined) return only[0];
    const whole = await this.#wholeFor(agent, trajectoryId, action);
    return whole && part(whole, { subject: agent.name, nonce: 'lasting', max_depth: 0 });
  }

  /**
   * The writs under which the agents of the configuration may act in a copy of a trajectory in
   * memory: one for each grant, as a child of its writ, so the spending of the record counts.
   * Nothing is recorded.
   */
  async allForCopy(trajectoryId: string): Promise<WritChain[]> {
    await this.stops.refresh();
    const agents = [...this.#principals.values()].filter(
      ({ name, kinds }) => kinds.includes('agent') && this.stops.of(name) === undefined,
    );
    return (await Promise.all(agents.map((agent) => this.#forCopy(agent, trajectoryId)))).flat();
  }

  async #forCopy(agent: ResolvedPrincipal, trajectoryId: string): Promise<WritChain[]> {
    const only = await this.#onlyWrit(agent, trajectoryId);
    if (only !== undefined) return only;
    const rows = await Promise.all(
      grantsIn(agent, trajectoryId).map((grant) => this.#rowOf(agent.name, grant, trajectoryId)),
    );
    const terms = { subject: agent.name, nonce: 'copy', max_depth: 0 };
    return rows.map(({ row }) => part(grantWrit(this.#root, row), terms));
  }

  /**
   * The short writ with that id, under which an entry of that instant was ruled. Undefined if no
   * grant of the agent issued it.
   */
  async issuedBefore(
    name: string,
    trajectoryId: string,
    id: string,
    at: Instant,
  ): Promise<WritChain | undefined> {
    const oldest = -AHEAD_MAX - Math.ceil(QUEUED_MS / this.#windowMs);
    for (const row of await this.#rows.inTrajectory(trajectoryId)) {
      if (row.principal !== name) continue;
      const whole = grantWrit(this.#root, row);
      for (let windows = AHEAD_MAX; windows >= oldest; windows--) {
        const short = this.#short(name, whole, addMicros(at, windows * this.#windowMs * 1_000));
        if (writId(short.writ) === id) return short;
      }
    }
    return undefined;
  }

  /**
   * A part of an agent's authority for another principal. The new writ is a child of the agent's
   * grant, so its spending counts there too. Undefined if no grant may be passed on.
   *
   * @throws AuthorityError `not_attenuated`, `bad_writ`, `bad_argument`
   */
  async attenuated(
    agent: GrantedAgent,
    trajectoryId: string,
    terms: PartTerms & { readonly expires: Instant },
  ): Promise<WritChain | undefined> {
    const changes = { ...terms, trajectory: trajectoryId, nonce: contentHash(terms) };
    return firstAllowed(await this.#passable(agent, trajectoryId), (whole) => part(whole, changes));
  }

  /**
   * A part of an agent's grant for a child trajectory: the writ of the grant, and its child.
   * Undefined if no grant may be passed on.
   *
   * @throws AuthorityError `not_attenuated`, `bad_writ`, `bad_argument`
   */
  async delegated(
    agent: GrantedAgent,
    trajectoryId: string,
    child: string,
    terms: PartTerms,
  ): Promise<{ readonly writ: WritChain; readonly signed: Writ } | undefined> {
    const changes = { ...terms, trajectory: child, nonce: contentHash({ child, ...terms }) };
    return firstAllowed(await this.#passable(agent, trajectoryId), ({ writ, chain, key }) => ({
      writ: { writ, chain },
      signed: delegateWrit(writ, changes, key.privateKey),
    }));
  }

  /**
   * The writs of all grants that a principal has or had in a trajectory, for a revocation. A grant
   * of the configuration that was not used yet is among them.
   */
  async wholesOf(name: string, trajectoryId: string): Promise<WritChain[]> {
    const grants = this.#principals.get(name)?.grants ?? [];
    for (const grant of await this.#countingHere(grants, trajectoryId))
      await this.#whole({ name }, grant, trajectoryId);
    const own = (await this.#rows.inTrajectory(trajectoryId)).filter(
      ({ principal }) => principal === name,
    );
    return own.map((row) => grantWrit(this.#root, row));
  }

  /** The trajectories in which a principal has used a grant. Reads all rows. */
  async placesOf(name: string): Promise<readonly string[]> {
    const places = new Set<string>();
    for await (const { value } of this.#rows.all())
      if (value.principal === name) places.add(value.trajectory);
    return [...places];
  }

  /** The principal of each grant that was used in a trajectory, by the id of its writ. */
  async holdersIn(trajectoryId: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#rows.inTrajectory(trajectoryId);
    return new Map(rows.map((row) => [grantWrit(this.#root, row).id, row.principal]));
  }

  /** Whether a writ is a part of a grant of that principal in the trajectory. */
  async isPartOfGrant(
    name: string,
    trajectoryId: string,
    { parent }: Pick<Writ, 'parent'>,
  ): Promise<boolean> {
    return parent !== null && (await this.#rows.find(trajectoryId, parent))?.principal === name;
  }

  /**
   * The principals whose grants a writ comes from, also through other principals and after their
   * grants were edited. Their names are in none of the writs.
   */
  async grantorsOf({ writ, chain }: WritChain): Promise<string[]> {
    const links = [writ, ...chain].filter(({ trajectory }) => trajectory !== undefined);
    const rows = await Promise.all(
      links.map((link) => this.#rows.find(link.trajectory as string, writId(link))),
    );
    return rows.flatMap((row) => row?.principal ?? []);
  }

  /**
   * The used grants that the configuration no longer has, and those of stopped agents, with their
   * writs.
   */
  async gone(trajectoryId?: string): Promise<GoneGrant[]> {
    await this.stops.refresh('now');
    const gone = [];
    for await (const row of this.#rows.all(trajectoryId)) {
      const { principal, isConfigured, withdrawn } = row.value;
      const isStopped = this.stops.of(principal) === 'stopped';
      if (withdrawn !== undefined) continue;
      if (!isStopped && (!isConfigured || (await this.#hasConfigured(row.value)))) continue;
      const { writ, chain } = grantWrit(this.#root, row.value);
      gone.push({ row, whole: { writ, chain }, isStopped });
    }
    return gone;
  }

  /** A root writ for one act of now. */
  brief(grant: BriefGrant, now: Instant): Writ {
    const period = {
      not_before: addMicros(now, -BRIEF_MICROS),
      expires: addMicros(now, BRIEF_MICROS),
    };
    return issueWrit(
      { issuer: this.#root.publicKey, ...grant, ...period, max_depth: 0 },
      this.#root.privateKey,
    );
  }

  /** Records that a grant of `gone` was revoked, and the amounts spent under it. */
  withdraw(row: SealedRow<GrantRow>, spent: Readonly<Record<string, number>>): Promise<void> {
    return this.#rows.withdraw(row, spent);
  }

  /**
   * The writ of a limited token, or of the delegation. Undefined where grants count.
   *
   * @throws ConfigError `agent_stopped` for the agent, and for one that passed the writ on
   */
  async #onlyWrit(
    { name, writ }: GrantedAgent,
    trajectoryId: string,
  ): Promise<WritChain[] | undefined> {
    await this.stops.requireNone([name]);
    const place = writ === undefined ? await this.#places.find(trajectoryId) : undefined;
    if (writ === undefined && place?.isDelegated !== true) return undefined;
    const only = writ ?? place?.delegated;
    if (only === undefined) return [];
    if (writ === undefined ? only.writ.subject !== name : only.writ.trajectory !== trajectoryId)
      return [];
    await this.stops.requireNone(await this.grantorsOf(only));
    return [only];
  }

  async #wholeFor(
    agent: GrantedAgent,
    trajectoryId: string,
    action: string,
  ): Promise<GrantWrit | undefined> {
    const grants = grantsIn(agent, trajectoryId);
    const grant =
      grants.find(({ actions }) => actions.some((pattern) => isCovered(pattern, action))) ??
      grants[0];
    return grant && this.#whole(agent, grant, trajectoryId);
  }

  /** The grants that an agent may pass on. A token that is limited to a writ passes nothing on. */
  async #passable(agent: GrantedAgent, trajectoryId: string): Promise<GrantWrit[]> {
    if ((await this.#onlyWrit(agent, trajectoryId)) !== undefined) return [];
    const grants = grantsIn(agent, trajectoryId).filter(({ maxDepth }) => maxDepth > 0);
    return Promise.all(grants.map((grant) => this.#whole(agent, grant, trajectoryId)));
  }

  async #countingHere(
    grants: readonly ResolvedGrant[],
    trajectoryId: string,
  ): Promise<ResolvedGrant[]> {
    const place = await this.#places.find(trajectoryId);
    return place?.isDelegated === true ? [] : grants.filter((grant) => isFor(grant, trajectoryId));
  }

  /** The writ of a whole grant, recorded before its first use. */
  async #whole(
    { name }: Pick<GrantedAgent, 'name'>,
    grant: ResolvedGrant,
    trajectoryId: string,
  ): Promise<GrantWrit> {
    const key = `${this.stops.version}\n${this.#hashOf(grant)}\n${trajectoryId}\n${name}`;
    try {
      return await this.#wholes.get(key, () => this.#recorded(name, grant, trajectoryId));
    } catch (error) {
      this.#wholes.delete(key);
      throw error;
    }
  }

  async #recorded(principal: string, grant: ResolvedGrant, trajectory: string): Promise<GrantWrit> {
    const { row, isRecorded } = await this.#rowOf(principal, grant, trajectory);
    if (isRecorded) return grantWrit(this.#root, row);
    await this.#rows.add(grantWrit(this.#root, row).id, row);
    // A stop that this read misses finds the row.
    await this.stops.requireNone([principal], 'now');
    // Another process may have recorded the grant at the same time: all use the first in order.
    const first = await this.#rowOf(principal, grant, trajectory);
    return grantWrit(this.#root, first.isRecorded ? first.row : row);
  }

  /** The row of a grant, or the one that its first use records. */
  async #rowOf(principal: string, grant: ResolvedGrant, trajectory: string) {
    const terms = termsOf(principal, grant, (await this.#places.find(trajectory))?.domain ?? '');
    const text = canonicalize(terms);
    const rows = (await this.#rows.inTrajectory(trajectory)).filter(
      (row) => row.principal === principal,
    );
    const same = rows.filter((row) => canonicalize(row.terms) === text);
    const found = same.find(({ withdrawn }) => withdrawn === undefined);
    if (found !== undefined) return { row: found, isRecorded: true };
    const row: GrantRow = {
      ...{ principal, trajectory, terms },
      generation: same.length,
      carried: carriedBy(rows, terms.budget),
      isConfigured: await this.#hasConfigured({ principal, trajectory, terms }),
    };
    return { row, isRecorded: false };
  }

  async #hasConfigured({
    principal,
    trajectory,
    terms,
  }: Pick<GrantRow, 'principal' | 'trajectory' | 'terms'>) {
    const grants = await this.#countingHere(
      this.#principals.get(principal)?.grants ?? [],
      trajectory,
    );
    const domain = (await this.#places.find(trajectory))?.domain ?? '';
    const text = canonicalize(terms);
    return grants.some((grant) => canonicalize(termsOf(principal, grant, domain)) === text);
  }

  #short(name: string, whole: GrantWrit, now: Instant): WritChain {
    const { start, end } = windowOf(now, this.#windowMs);
    return this.#shorts.get(`${whole.id} ${start}`, () => {
      const expires = this.#waitMs === 'never' ? LATEST : addMicros(end, this.#waitMs * 1_000);
      const period = { not_before: addMicros(start, -SKEW_MICROS), expires };
      return part(whole, { subject: name, nonce: start, ...period, max_depth: 0 });
    });
  }

  #hashOf(grant: ResolvedGrant): string {
    const known = this.#hashes.get(grant);
    if (known !== undefined) return known;
    const hash = contentHash({ ...grant });
    this.#hashes.set(grant, hash);
    return hash;
  }
}

/** The period of the writs of an instant. Each writ outlives its window by one window. */
export function windowOf(
  now: Instant,
  windowMs: number,
): { readonly start: Instant; readonly end: Instant } {
  const start = Math.floor(instantToMillis(now) / windowMs) * windowMs;
  return { start: instantFromMillis(start), end: instantFromMillis(start + 2 * windowMs) };
}

function part(
  { writ, chain, key }: GrantWrit,
  changes: Parameters<typeof attenuate>[1],
): WritChain {
  return { writ: attenuate(writ, changes, key.privateKey), chain: [writ, ...chain] };
}

/** The result for the first grant that is wide enough. @throws the error for the first grant */
function firstAllowed<T>(
  wholes: readonly GrantWrit[],
  make: (whole: GrantWrit) => T,
): T | undefined {
  let refused: unknown;
  for (const whole of wholes) {
    try {
      return make(whole);
    } catch (error) {
      refused ??= error;
    }
  }
  if (refused !== undefined) throw refused;
  return undefined;
}

function grantsIn({ grants }: GrantedAgent, trajectoryId: string): ResolvedGrant[] {
  return grants.filter((grant) => isFor(grant, trajectoryId));
}

/**
 * A grant for every trajectory excludes that of incidents: its agent could record the steps of a
 * response as done. No grant is for the trajectory of the stopped agents.
 */
function isFor({ trajectories }: ResolvedGrant, trajectoryId: string): boolean {
  if (trajectoryId === AGENTS) return false;
  return (
    (trajectories.includes('*') && trajectoryId !== INCIDENTS) ||
    trajectories.includes(trajectoryId)
  );
}

/** An action that is not a name of the grammar is covered by nothing, and the kernel refuses it. */
function isCovered(pattern: string, action: string): boolean {
  try {
    return covers(pattern, action);
  } catch {
    return false;
  }
}
