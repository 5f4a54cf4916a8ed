import type { Writ } from '#authority';
import { arg, checkArgument, isAssizeError } from '#base';
import { hashText } from '#canon';
import type { Domain } from '#kernel';
import { Assize, type AssizeOptions, type Proposal, type Ruling, type Trajectory } from '#runtime';
import { checkStoreUrl, openStore, type Store, sealKeys } from '#stores';
import { anchorRoot } from './anchors-file.ts';
import { DEFAULT_AGENT, defaultWrit } from './default-writ.ts';
import { type Environment, ownEnvironment } from './environment.ts';
import { DEFAULT_STORE } from './resolved-config.ts';
import { type RootKey, rootKeyOf } from './root-key.ts';

/** The options of `createAssize`. */
export interface CreateAssizeOptions<D extends Domain = Domain>
  extends Pick<AssizeOptions, 'tools' | 'policy' | 'approvals' | 'effects' | 'memory' | 'ports'> {
  /** URL of the store. It is created if it does not exist. Default: `sqlite:./assize.db`. */
  readonly store?: string;
  /** Place of the store's archive. Default: ASSIZE_ARCHIVE, else that of `openStore`. */
  readonly archive?: string;
  readonly domain: D;
  /** Id of the trajectory. It is created if it does not exist. Default: the domain's name. */
  readonly name?: string;
  /** Initial state of a new trajectory. Default: that of the domain. */
  readonly initial?: unknown;
  /** The agent whose writ `propose` uses. Default: `agent:default`. */
  readonly agent?: string;
  /** The variables of the root key and the archive. Default: those of the process. */
  readonly env?: Environment;
}

/** A proposal without a writ. */
export type WorldProposal<D extends Domain> =
  Proposal<D> extends infer Each
    ? Each extends unknown
      ? Omit<Each, 'writ' | 'principal'>
      : never
    : never;

/** One trajectory of one store, with a writ for an agent. Made by `createAssize`. */
export class AssizeWorld<D extends Domain = Domain> {
  readonly store: Store;
  readonly assize: Assize;
  readonly trajectory: Trajectory<D>;
  /** The writ of the agent, for calls that need one. */
  readonly writ: Writ;
  readonly #writFor: (agent: string) => Writ;

  constructor(
    store: Store,
    assize: Assize,
    trajectory: Trajectory<D>,
    agent: string,
    writFor: (agent: string) => Writ,
  ) {
    this.store = store;
    this.assize = assize;
    this.trajectory = trajectory;
    this.writ = writFor(agent);
    this.#writFor = writFor;
  }

  /**
   * Proposes an action as the agent of this world. A refusal is a result.
   *
   * @throws the errors of `Trajectory.propose`
   */
  propose(proposal: WorldProposal<D>): Promise<Ruling> {
    return this.trajectory.propose({
      ...(proposal as object),
      writ: this.writ,
    } as unknown as Proposal<D>);
  }

  /**
   * The writ of another agent, with the same grant.
   *
   * @throws AuthorityError `bad_writ` for a name that no writ can have
   */
  writFor(agent: string): Writ {
    return this.#writFor(agent);
  }

  /** Ends the runtime as `Assize.close` does, and closes the store. */
  async close(): Promise<void> {
    try {
      await this.assize.close();
    } finally {
      await this.store.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Opens a store with one trajectory, and creates what does not exist yet: the root key, the store,
 * the trajectory. For development and for programs with one trajectory. A second run, or a second
 * process, opens the same trajectory.
 *
 * The root key is in the environment, or in a file with mode 600 beside a SQLite store. A created
 * file is reported on standard error. For PostgreSQL, the key must be in the environment.
 *
 * @throws ConfigError `root_key_missing`, `bad_key`, `bad_config`; RuntimeError `domain_mismatch`
 * if the trajectory has another domain or version; the errors of `openStore`, `new Assize` and
 * `Assize.create`; ArgumentError `bad_argument`
 */
export async function createAssize<D extends Domain>(
  options: CreateAssizeOptions<D>,
): Promise<AssizeWorld<D>> {
  checkArgument(OPTIONS, options, 'options');
  const { store: url = DEFAULT_STORE, domain, agent = DEFAULT_AGENT, env } = options;
  checkStoreUrl(url);
  const root = rootKeyOf(url, env);
  if (root.created) sayCreated(root);
  anchorRoot(url, root.publicKey);
  const store = await openStore(url, {
    archive: options.archive ?? (env ?? ownEnvironment())['ASSIZE_ARCHIVE'],
    ...sealKeys(root),
  });
  try {
    return await worldIn(store, root, domain, agent, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function worldIn<D extends Domain>(
  store: Store,
  root: RootKey,
  domain: D,
  agent: string,
  options: CreateAssizeOptions<D>,
): Promise<AssizeWorld<D>> {
  const { name = domain.name, initial, tools, policy, approvals, effects, memory, ports } = options;
  const assize = new Assize({
    ...{ store, snapshots: store, oracle: store, domains: [domain], anchors: [root.publicKey] },
    ...defined({ tools, policy, approvals, memory, ports }),
    effects: { recoveryKey: recoveryKeyOf(root), ...effects },
  });
  try {
    const trajectory = await openOrCreate(assize, store, domain, name, initial);
    const writFor = (subject: string): Writ =>
      defaultWrit(root, { agent: subject, trajectory: name, domain, ...defined({ tools }) });
    return new AssizeWorld(store, assize, trajectory, agent, writFor);
  } catch (error) {
    await assize.close();
    throw error;
  }
}

/** Another process may create the trajectory at the same time, or may have ended before. */
async function openOrCreate<D extends Domain>(
  assize: Assize,
  store: Store,
  domain: D,
  name: string,
  initial: unknown,
): Promise<Trajectory<D>> {
  if ((await store.head(name)) !== undefined) return assize.open(name, domain);
  try {
    return await assize.create(domain, { trajectoryId: name, ...defined({ initial }) });
  } catch (error) {
    if (!isAssizeError(error, 'exists')) throw error;
    return assize.open(name, domain);
  }
}

/** The same in every process with the root key, so that each continues the calls of the others. */
export function recoveryKeyOf({ privateKey }: Pick<RootKey, 'privateKey'>): string {
  return hashText(`assize/development-recovery/v1\n${privateKey}`);
}

function sayCreated({ file, publicKey }: RootKey): void {
  process.stderr.write(
    `assize: created the root key ${file} (public key ${publicKey}). It grants all authority in this store: keep it secret.\n`,
  );
}

/** A member that is undefined counts as absent. */
function defined<T extends object>(
  members: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(members).filter(([, member]) => member !== undefined),
  ) as never;
}

const OPTIONS = arg.options<CreateAssizeOptions>({
  store: arg.optional(arg.text),
  archive: arg.optional(arg.text),
  domain: arg.object,
  name: arg.optional(arg.text),
  initial: arg.any,
  agent: arg.optional(arg.text),
  env: arg.optional(arg.object),
  tools: arg.any,
  policy: arg.any,
  approvals: arg.any,
  effects: arg.any,
  memory: arg.any,
  ports: arg.any,
});
