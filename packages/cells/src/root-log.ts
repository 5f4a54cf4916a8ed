import { issueWrit, type Writ } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import type { SideStore } from 'assize/internal/ledger';
import { Assize, type Ruling, type Trajectory } from 'assize/internal/runtime';
import { openStore, type Store, type StoreOptions, sealKeys } from 'assize/internal/stores';
import { AppliedOrders } from './applied-orders.ts';
import { type DirectoryState, directory, ROOT_LOG } from './directory.ts';
import { CellsError } from './errors.ts';
import { ServedCell } from './served-cell.ts';

/** Fixed, so that a repeated order of another process is the same order. */
const PERIOD = {
  not_before: '2020-01-01T00:00:00.000000Z',
  expires: '2100-01-01T00:00:00.000000Z',
} as const;

type Orders = keyof typeof directory.actions;

export interface RootLogOptions extends Pick<StoreOptions, 'mode'> {
  /** URL of the root store. */
  readonly url: string;
  /** The key that every cell trusts. With its private key the log takes orders. */
  readonly root: {
    readonly publicKey: string;
    readonly privateKey?: string;
    readonly earlier?: readonly string[];
  };
}

/** The open store of the root log, with the runtime over it. */
interface Opened {
  readonly store: Store;
  readonly assize: Assize;
  readonly trajectory: Trajectory;
}

/**
 * The root log of a deployment of cells, as one process reads it and writes to it. A SQLite file
 * that was moved away fails the next `head`, and is opened again by the first `head` that finds it.
 */
export class RootLog {
  readonly #url: string;
  readonly #root: RootLogOptions['root'];
  #opened: Opened;
  /** The last head that was read. */
  #seen: string | undefined;
  /** `moved`: its file is no longer at its path. `closed`: the same, and the store is closed. */
  #state: 'open' | 'moved' | 'closed' = 'open';

  /** The side log of the root store, also after it was opened again. */
  readonly side: SideStore = {
    sideGet: (kind, key) => this.store.sideGet(kind, key),
    sideList: (kind, page) => this.store.sideList(kind, page),
    sidePut: (changes) => this.store.sidePut(changes),
  };

  private constructor(url: string, root: RootLogOptions['root'], opened: Opened) {
    this.#url = url;
    this.#root = root;
    this.#opened = opened;
  }

  /**
   * Opens the root log, and creates it if it does not exist and the mode allows it.
   *
   * @throws the errors of `openStore` and of `Assize.open`
   */
  static async open(options: RootLogOptions): Promise<RootLog> {
    return new RootLog(options.url, options.root, await opened(options));
  }

  /** The keys that check the seals of the root log, and of the cells. */
  get sealKeys(): Pick<StoreOptions, 'rootKeys'> {
    return sealKeys(this.#root);
  }

  /** The store, until it is opened again. */
  get store(): Store {
    return this.#opened.store;
  }

  /**
   * The id of the last entry. A round trip.
   *
   * @throws StoreError `store_poisoned` for a file that is not at its path; `store_not_found` until
   * it is back; CellsError `cell_diverged` if a file came back without the entries that were read
   */
  async head(): Promise<string> {
    if (this.#state !== 'open') await this.#openAgain();
    try {
      this.store.requireInPlace?.();
      this.#seen = (await this.store.head(ROOT_LOG))!.id;
      return this.#seen;
    } catch (error) {
      if (isAssizeError(error, 'store_poisoned')) this.#state = 'moved';
      throw error;
    }
  }

  /** A copy of the directory after the last entry of any process. */
  async read(): Promise<DirectoryState> {
    const { result } = await this.#opened.assize.readHead(ROOT_LOG, (state) =>
      structuredClone(state),
    );
    return result as unknown as DirectoryState;
  }

  /** Records a checkpoint of a cell. A refusal is a result. */
  async report(
    cell: string,
    head: { readonly size: number; readonly root: string; readonly proof: readonly string[] },
  ) {
    return this.#propose('report', head, {
      role: 'cell',
      params: { cell },
      principal: `cell:${cell}`,
    });
  }

  /**
   * Gives an order to every cell, or places a tenant.
   *
   * @throws CellsError `wrong_state`
   */
  async order(
    action: Exclude<Orders, 'report'>,
    args: Readonly<Record<string, string>>,
    principal: string,
  ): Promise<void> {
    const ruling = await this.#propose(action, args, { role: 'operator', principal });
    if (ruling.ruling === 'committed') return;
    const why = ruling.ruling === 'rejected' ? ruling.detail : ruling.ruling;
    throw new CellsError('wrong_state', `The root log refused the order: ${why}.`, {
      evidence: { action, ...args },
    });
  }

  /**
   * The number of orders that the servers of a cell have applied.
   *
   * @throws CellsError `wrong_state` without the private key
   */
  appliedIn(cell: string, side: SideStore): AppliedOrders {
    return new AppliedOrders(side, cell, { privateKey: this.#privateKey() });
  }

  /** @throws CellsError `wrong_state` without the private key */
  servedCell(cell: string, side: SideStore): ServedCell {
    return new ServedCell(side, cell, { privateKey: this.#privateKey() });
  }

  async close(): Promise<void> {
    if (this.#state !== 'closed') await closed(this.#opened);
    this.#state = 'closed';
  }

  async #openAgain(): Promise<void> {
    // Two connections of a process to one file share its locks.
    if (this.#state === 'moved') await closed(this.#opened);
    this.#state = 'closed';
    const next = await opened({ url: this.#url, root: this.#root, mode: 'existing' });
    if (this.#seen !== undefined && (await next.store.resolve(this.#seen)) === undefined) {
      await closed(next);
      throw new CellsError(
        'cell_diverged',
        'The store of the root log came back without entries that this process has read. Put the right file in place.',
      );
    }
    this.#opened = next;
    this.#state = 'open';
  }

  async #propose(
    action: Orders,
    args: object,
    {
      role,
      params = {},
      principal,
    }: { readonly role: string; readonly params?: object; readonly principal: string },
  ): Promise<Ruling> {
    const writ = this.#writFor(principal, action);
    return this.#opened.trajectory.propose({
      action,
      role: { name: role, params },
      args,
      writ,
    } as never);
  }

  /** @throws CellsError `wrong_state` without the private key */
  #writFor(subject: string, action: Orders): Writ {
    const privateKey = this.#privateKey();
    const grant = {
      issuer: this.#root.publicKey,
      subject,
      trajectory: ROOT_LOG,
      actions: [action],
      scopes: ['**'],
      ...PERIOD,
    };
    return issueWrit({ ...grant, max_depth: 0, nonce: `cells ${action}` }, privateKey);
  }

  #privateKey(): string {
    const { privateKey } = this.#root;
    if (privateKey !== undefined) return privateKey;
    throw new CellsError(
      'wrong_state',
      'The root log takes orders of the root key only. Set ASSIZE_ROOT_KEY_FILE.',
    );
  }
}

/** @throws the errors of `openStore` and of `Assize.open` */
async function opened({ url, root, mode = 'create' }: RootLogOptions): Promise<Opened> {
  const store = await openStore(url, { mode, ...sealKeys(root) });
  try {
    const assize = new Assize({
      ...{
        store,
        snapshots: store,
        oracle: store,
        domains: [directory],
        anchors: [root.publicKey],
      },
    });
    return { store, assize, trajectory: await trajectoryIn(store, assize, mode) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function closed({ assize, store }: Opened): Promise<void> {
  try {
    await assize.close();
  } finally {
    await store.close();
  }
}

/** Another process may create the log at the same time. */
async function trajectoryIn(
  store: Store,
  assize: Assize,
  mode: RootLogOptions['mode'],
): Promise<Trajectory> {
  if (mode === 'create' && (await store.head(ROOT_LOG)) === undefined) {
    try {
      return (await assize.create(directory, { trajectoryId: ROOT_LOG })) as unknown as Trajectory;
    } catch (error) {
      if (!isAssizeError(error, 'exists')) throw error;
    }
  }
  return assize.open(ROOT_LOG);
}
