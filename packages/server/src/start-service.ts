import {
  agentsDomain,
  anchorRoot,
  checkNames,
  derivedLogKey,
  GrantIssuer,
  recoveryKeyOf,
  runtimeServices,
  withdrawGrants,
} from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { systemClock, systemRandom } from 'assize/internal/oracle';
import { checkpointFile, type Store } from 'assize/internal/stores';
import { CellDuties } from './cells/cell-duties.ts';
import { gracedReads } from './cells/graced-reads.ts';
import { Checkpoints, witnessesOf } from './checkpoints.ts';
import { GatewayWorlds } from './gateway-worlds.ts';
import { checkpointInFile, checkpointInStore, type LastCheckpoint } from './last-checkpoint.ts';
import type { Metrics } from './log/metrics.ts';
import { NewestRules } from './newest-rules.ts';
import { FailedNotices } from './notices/queue/failed-notices.ts';
import type { Receiver } from './notices/receivers.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { credentialsOf } from './principals/credentials.ts';
import { FreeNames } from './principals/free-names.ts';
import { OfficeWrits } from './principals/office-writs.ts';
import { ROW_FRESH_MS, recentSideStore } from './principals/recent-side-store.ts';
import type { ServeOptions } from './serve-options.ts';
import { ServedAssize } from './served-assize.ts';
import type { Service } from './service.ts';
import { Simulations } from './simulations/simulations.ts';
import { createWorlds } from './worlds.ts';

/** Milliseconds for which a read of the stopped agents counts in a local file. */
const STOPS_FRESH_MS = 10;

/** A token that counted within this time still reads while the root store is away. */
const TOKEN_GRACE_MS = 3_600_000;

/** The runtime's time limit of pending approvals, where the configuration has none: seven days. */
const APPROVAL_TIMEOUT_MS = 604_800_000;

export interface ServicePorts {
  /** The store of the options, which also wakes the parts that wait for entries. */
  readonly store: Store;
  readonly metrics: Metrics;
  readonly receivers: readonly Receiver[];
  readonly wakeNotices: () => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Makes the parts that operations use, and prepares the store: the configured worlds exist, used
 * grants that the configuration no longer has are revoked, and the rules of the file are in force.
 *
 * @throws ConfigError `bad_config`; ServerError `rules_refused`; the errors of the store
 */
export async function startService(
  options: ServeOptions,
  { store, metrics, receivers, wakeNotices, onFailure }: ServicePorts,
): Promise<Service> {
  const { root, domains, policy, rules, cell, clock = systemClock } = options;
  const { server } = options.config;
  checkNames(options.config, [...domains, agentsDomain()]);
  anchorRoot(options.config.store, root.publicKey);
  const file = checkpointFile(options.config.store);
  // A row of a local file is read at once, and a row over the network is a round trip a request.
  const isRemote = file === undefined && !options.config.store.startsWith('memory:');
  const offices = new OfficeWrits(root, server.writSeconds);
  const grants = new GrantIssuer(root, store, {
    principals: options.config.principals,
    writSeconds: server.writSeconds,
    waitMs: options.config.approvals.timeoutMs ?? APPROVAL_TIMEOUT_MS,
    freshMs: isRemote ? ROW_FRESH_MS : STOPS_FRESH_MS,
  });
  const anchors = [root.publicKey];
  const duties = cell && new CellDuties({ cell, domains, anchors, grants, offices, clock, onFailure });
  await duties?.start();
  duties?.measure(metrics);
  const worlds = await (duties?.worldsHere(options.config.worlds) ?? options.config.worlds);
  const config = { ...options.config, worlds };
  const assize = new ServedAssize({
    ...{ store, snapshots: store, oracle: store, anchors },
    domains: [...new Set([...domains, agentsDomain() as unknown as Domain])],
    ...(policy !== undefined && { policy }),
    ...(config.tools.length > 0 && { tools: config.tools }),
    effects: { recoveryKey: recoveryKeyOf(root), onRecoveryFailed: onFailure, ...config.effects },
    approvals: config.approvals,
    memory: runtimeServices(config.memory),
    ports: { clock },
    onSnapshotFailed: onFailure,
    onNotificationFailed: onFailure,
  });
  // A token counts in every cell. Reads go on longer than writes while the root store is away.
  const side =
    cell === undefined
      ? store
      : gracedReads(cell.log.side, {
          graceMs: TOKEN_GRACE_MS,
          requireHeard: () => cell.watch.requireHeard(),
        });
  const { tokens, sessions } = credentialsOf(isRemote ? recentSideStore(side) : side, root);
  // A file protects against a store that was put back, also where its entries were.
  const last: LastCheckpoint = file === undefined ? checkpointInStore(store) : checkpointInFile(file);
  const gateways = new GatewayWorlds({
    ...{ assize, store, clock, offices, worlds: config.worlds, onFailure },
    rules: rules && { rules, tools: config.tools.filter(({ name }) => name.includes('.')) },
    newest: new NewestRules(store, root, systemRandom),
  });
  const service: Service = {
    ...{ assize, store, config, domains, clock, tokens, sessions, metrics, grants, offices, gateways },
    names: new FreeNames(config.principals.keys()),
    migrations: options.migrations ?? new Map(),
    checkpoints: new Checkpoints(
      store,
      options.logKeys ?? (() => ({ signer: derivedLogKey(root), earlier: [] })),
      last,
      witnessesOf(server.witnesses),
    ),
    verifiers: options.verifiers ?? {},
    bundles: new OneAtATime(),
    simulations: new Simulations({
      config,
      store,
      assize,
      domains,
      policy,
      anchors,
      grants,
      onFailure,
    }),
    failedNotices: new FailedNotices(store, receivers, clock, wakeNotices),
    cell: duties,
    policyOf: options.policyOf,
  };
  await createWorlds(service);
  await withdrawGrants(grants, { store, assize, now: clock.now(), onFailure });
  await gateways.start();
  return service;
}
