import type { Operation } from '@assize/command/operation';
import type { Policy } from 'assize/internal/authority';
import type { Deployment, RootKey } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import type { LedgerStore, LogStore } from 'assize/internal/ledger';
import type { Store, StoreOptions } from 'assize/internal/stores';
import type { Command } from 'commander';

/** Adds one command to the program, or to its group. */
export type Register = (parent: Command) => void;

/** An open store, with the words for its errors. */
export interface OpenedStore {
  readonly store: Store;
  /** An error in the words of the feature, if the feature is its cause. */
  readonly explained: (error: unknown) => unknown;
}

/** The options of a command’s store. `root`: the first store of a URL with several. */
export type OpenByUrlOptions = StoreOptions & { readonly root?: boolean };

/** A form of store URLs that a feature adds: those that begin with its name and a colon. */
export interface StoreForm {
  /** @throws CliError; the errors of the store */
  readonly open: (
    url: string,
    options: OpenByUrlOptions,
    root: RootKey | undefined,
  ) => Promise<OpenedStore>;
  /** The store of a server, with its own URL. The store closes the rest. */
  readonly serve: (
    url: string,
    options: { readonly root: RootKey; readonly onFailure: (error: unknown) => void },
  ) => Promise<{ readonly store: Store; readonly url: string; readonly deployment: Deployment }>;
  /** Refuses to create a root key where another machine has it. @throws CliError */
  readonly requireKey: (url: string) => Promise<void>;
  /** A line below the trajectories of the store. */
  readonly note: (url: string) => string | undefined;
}

/** A form of policy files that a feature adds. */
export interface PolicyForm {
  /** By the ending of the name. */
  readonly reads: (path: string) => boolean;
  /** @throws CliError; the errors of the form */
  readonly read: (path: string, schema: string | undefined) => Promise<Policy>;
}

/** The parts of a store that an export reads. */
export type ExportedLog = Pick<LedgerStore, 'blob' | 'erasedBy'> &
  Pick<LogStore, 'logSize' | 'logged' | 'logIndex'>;

/** A part of the product that a package adds to the command line. */
export interface Feature {
  readonly name: string;
  /**
   * By name, in the order of the help. `GROUP NAME` is a command in a group. The group can be of
   * another feature. Only the command that runs is loaded.
   */
  readonly commands?: Readonly<Record<string, () => Promise<Register>>>;
  /** The domains that need no file, loaded on request: schemas take time to build. */
  readonly domains?: () => Promise<readonly Domain[]>;
  /** For recorded runs without a policy, under the names of other domains. */
  readonly domainsWithoutInvariants?: () => Promise<readonly Domain[]>;
  readonly policyForm?: PolicyForm;
  /** The operations of the API, as they are described. */
  readonly operations?: () => Promise<readonly Operation[]>;
  readonly storeForm?: () => Promise<StoreForm>;
  /** The trajectories of one tenant as a log, for an export. */
  readonly tenantLog?: (store: Store, tenant: string) => Promise<ExportedLog>;
}

let inUse: readonly Feature[] = [];

/** Sets the features of this process. */
export function useFeatures(features: readonly Feature[]): void {
  inUse = features;
}

export function featuresInUse(): readonly Feature[] {
  return inUse;
}

/** The form of a store URL that a feature adds. Undefined: `openStore` opens it. */
export async function storeFormOf(url: string): Promise<StoreForm | undefined> {
  return inUse
    .find(({ name, storeForm }) => storeForm !== undefined && url.startsWith(`${name}:`))
    ?.storeForm?.();
}

/** The form of a policy file that a feature adds. Undefined: the file is a rule table in JSON. */
export function policyFormOf(path: string): PolicyForm | undefined {
  return inUse.find(({ policyForm }) => policyForm?.reads(path))?.policyForm;
}

/** The operations that the features have. */
export async function operations(): Promise<readonly Operation[]> {
  return (await Promise.all(inUse.map((feature) => feature.operations?.() ?? []))).flat();
}
