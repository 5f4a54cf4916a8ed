import { issueWrit, type Writ } from '#authority';
import { isAssizeError } from '#base';
import type { SideStore } from '#ledger';
import { Assize, type Ruling, type Trajectory } from '#runtime';
import { openStore, type Store, type StoreOptions } from '#stores';
import { AppliedOrders } from './applied-orders.ts';
import { type DirectoryState, directory, ROOT_LOG } from './directory.ts';
import { CellsError } from './errors.ts';

/** Fixed, so that a repeated order of another process is the same order. */
const PERIOD = { not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z' } as const;

type Orders = keyof typeof directory.actions;

export interface RootLogOptions extends Pick<StoreOptions, 'mode'> {
  /** URL of the root store. */
  readonly url: string;
  /** The key that every cell trusts. With its private key the log takes orders. */
  readonly root: { readonly publicKey: string; readonly privateKey?: string };
}

/** The root log of a deployment of cells, as one process reads it and writes to it. */
export class RootLog {
  readonly store: Store;
  readonly #assize: Assize;
  readonly #trajectory: Trajectory;
  readonly #root: RootLogOptions['root'];

  private constructor(store: Store, assize: Assize, trajectory: Trajectory, root: RootLogOptions['root']) {
    this.store = store;
    this.#assize = assize;
    this.#trajectory = trajectory;
    this.#root = root;
  }

  /**
   * Opens the root log, and creates it if it does not exist and the mode allows it.
   *
   * @throws the errors of `openStore` and of `Assize.open`
   */
  static async open({ url, root, mode = 'create' }: RootLogOptions): Promise<RootLog> {
    const store = await openStore(url, { mode });
    try {
      const assize = new Assize({
        ...{ store, snapshots: store, oracle: store, domains: [directory], anchors: [root.publicKey] },
      });
      return new RootLog(store, assize, await trajectoryIn(store, assize, mode), root);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** The id of the last entry. A round trip. */
  async head(): Promise<string> {
    return (await this.store.head(ROOT_LOG))!.id;
  }

  /** A copy of the directory after the last entry of any process. */
  async read(): Promise<DirectoryState> {
    const { result } = await this.#assize.readHead(ROOT_LOG, (state) => structuredClone(state));
    return result as unknown as DirectoryState;
  }

  /** Records a checkpoint of a cell. A refusal is a result. */
  async report(
    cell: string,
    head: { readonly size: number; readonly root: string; readonly proof: readonly string[] },
  ) {
    return this.#propose('report', head, { role: 'cell', params: { cell }, principal: `cell:${cell}` });
  }

  /**
   * Gives an order to every cell, or places a tenant.
   *
   * @throws CellsError `order_refused`
   */
  async order(
    action: Exclude<Orders, 'report'>,
    args: Readonly<Record<string, string>>,
    principal: string,
  ): Promise<void> {
    const ruling = await this.#propose(action, args, { role: 'operator', principal });
    if (ruling.ruling === 'committed') return;
    const why = ruling.ruling === 'rejected' ? ruling.detail : ruling.ruling;
    throw new CellsError('order_refused', `The root log refused the order: ${why}.`, { evidence: { action, ...args } });
  }

  /**
   * The number of orders that the servers of a cell have applied.
   *
   * @throws CellsError `order_refused` without the private key
   */
  appliedIn(cell: string, side: SideStore): AppliedOrders {
    return new AppliedOrders(side, cell, { privateKey: this.#privateKey() });
  }

  async close(): Promise<void> {
    try {
      await this.#assize.close();
    } finally {
      await this.store.close();
    }
  }

  async #propose(
    action: Orders,
    args: object,
    { role, params = {}, principal }: { readonly role: string; readonly params?: object; readonly principal: string },
  ): Promise<Ruling> {
    const writ = this.#writFor(principal, action);
    return this.#trajectory.propose({ action, role: { name: role, params }, args, writ } as never);
  }

  /** @throws CellsError `order_refused` without the private key */
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
    throw new CellsError('order_refused', 'The root log takes orders of the root key only. Set ASSIZE_ROOT_KEY_FILE.');
  }
}

/** Another process may create the log at the same time. */
async function trajectoryIn(store: Store, assize: Assize, mode: RootLogOptions['mode']): Promise<Trajectory> {
  if (mode === 'create' && (await store.head(ROOT_LOG)) === undefined) {
    try {
      return (await assize.create(directory, { trajectoryId: ROOT_LOG })) as unknown as Trajectory;
    } catch (error) {
      if (!isAssizeError(error, 'exists')) throw error;
    }
  }
  return assize.open(ROOT_LOG);
}
