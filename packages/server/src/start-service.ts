import { Simulations } from '@assize/agents/internal/operations';
import {
  Checkpoints,
  checkpointInFile,
  checkpointInStore,
  OneAtATime,
  witnessesOf,
} from '@assize/audit/internal/operations';
import { domainToRun } from '@assize/audit/internal/replay';
import { ServerError, SystemWrits } from '@assize/command/operation';
import { GatewayWorlds, NewestRules } from '@assize/gate/internal/operations';
import { isAssizeError } from 'assize/internal/base';
import {
  agentsDomain,
  anchorRoot,
  checkNames,
  type Deployment,
  derivedLogKey,
  GrantIssuer,
  type ResolvedConfig,
  recoveryKeyOf,
  runtimeServices,
  withdrawGrants,
} from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { readRow } from 'assize/internal/ledger';
import { systemClock, systemRandom } from 'assize/internal/oracle';
import { Assize, type Background } from 'assize/internal/runtime';
import { checkpointFile, type Store, sideSecretOf } from 'assize/internal/stores';
import { DomainActions } from 'assize/internal/views';
import { Blocks } from './activity/blocks.ts';
import type { Metrics } from './log/metrics.ts';
import { FailedNotices } from './notices/queue/failed-notices.ts';
import type { Receiver } from './notices/receivers.ts';
import { credentialsOf } from './principals/credentials.ts';
import { FreeNames } from './principals/free-names.ts';
import { ROW_FRESH_MS, recentSideStore } from './principals/recent-reads.ts';
import type { ServeOptions } from './serve-options.ts';
import type { ServerService } from './service.ts';

/** Milliseconds for which a read of the stopped agents counts in a local file. */
const STOPS_FRESH_MS = 10;

/** The runtime's time limit of pending approvals, where the configuration has none: seven days. */
const APPROVAL_TIMEOUT_MS = 604_800_000;

export interface ServicePorts {
  /** The store of the options. It also wakes the parts that wait for entries. */
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
 * @throws ConfigError `bad_config`; ServerError `bad_rules`; the errors of the store
 */
export async function startService(
  options: ServeOptions,
  { store, metrics, receivers, wakeNotices, onFailure }: ServicePorts,
): Promise<ServerService> {
  const { root, domains, policy, rules, trial, deployment, clock = systemClock } = options;
  const { server } = options.config;
  const allDomains = [...new Set([...domains, agentsDomain() as unknown as Domain])];
  checkNames(options.config, allDomains);
  anchorRoot(options.config.store, root.publicKey);
  const file = checkpointFile(options.config.store);
  // A row of a local file is read immediately; over the network it is a round trip per request.
  const isRemote = file === undefined && !options.config.store.startsWith('memory:');
  const systemWrits = new SystemWrits(root, server.writSeconds);
  const grants = new GrantIssuer(root, store, {
    principals: options.config.principals,
    writSeconds: server.writSeconds,
    waitMs: options.config.approvals.timeoutMs ?? APPROVAL_TIMEOUT_MS,
    freshMs: isRemote ? ROW_FRESH_MS : STOPS_FRESH_MS,
  });
  const anchors = [root.publicKey];
  await deployment?.start({
    ...{ domains, grants, clock, onFailure },
    runtimeOver: (other) =>
      new ServedAssize({
        store: other,
        snapshots: other,
        oracle: other,
        domains,
        anchors,
        ports: { clock },
      }),
    writFor: (...terms) => systemWrits.forBuiltIn(...terms),
  });
  for (const gauge of deployment?.gauges ?? []) metrics.gauge(gauge);
  const worlds = await worldsHere(options.config.worlds, deployment);
  const config = { ...options.config, worlds };
  const assize = new ServedAssize({
    ...{ store, snapshots: store, oracle: store, anchors },
    domains: allDomains,
    ...(policy !== undefined && { policy }),
    ...(config.tools.length > 0 && { tools: config.tools }),
    effects: { recoveryKey: recoveryKeyOf(root), onRecoveryFailed: onFailure, ...config.effects },
    approvals: config.approvals,
    memory: runtimeServices(config.memory),
    ports: { clock },
    onSnapshotFailed: onFailure,
    onNotificationFailed: onFailure,
  });
  const side = deployment?.side ?? store;
  const { tokens, sessions } = credentialsOf(isRemote ? recentSideStore(side) : side, root);
  // A file protects against a store that was put back, also where its entries were.
  const last = file === undefined ? checkpointInStore(store) : checkpointInFile(file);
  const [domain, ...more] = domains.filter(({ name }) => name === 'gateway');
  const gateways = new GatewayWorlds({
    domain: more.length === 0 ? domain : undefined,
    ...{ assize, store, clock, systemWrits, worlds: config.worlds, onFailure },
    rules: rules && {
      ...{ rules, trial },
      tools: config.tools.filter(({ name }) => name.includes('.')),
    },
    rulesFile: config.policyFile,
    newest: new NewestRules(store, root, systemRandom),
  });
  const service: ServerService = {
    ...{
      assize,
      store,
      config,
      domains,
      clock,
      tokens,
      sessions,
      metrics,
      grants,
      systemWrits,
      gateways,
    },
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
      ...{ config, store, assize, policy, anchors, grants, onFailure },
      domainToRun: (recorded) => domainToRun(recorded, { domains }),
    }),
    activity: new Blocks(store, sideSecretOf(root)),
    actions: new DomainActions(store, allDomains),
    failedNotices: new FailedNotices(store, receivers, clock, wakeNotices),
    deployment,
    policyOf: options.policyOf,
  };
  await createWorlds(service);
  await withdrawGrants(grants, { store, assize, now: clock.now(), onFailure });
  await gateways.start();
  return service;
}

/** The configured worlds whose place is here. A world without a place gets one. */
async function worldsHere(worlds: ResolvedConfig['worlds'], deployment: Deployment | undefined) {
  if (deployment === undefined) return worlds;
  for (const id of Object.keys(worlds)) await deployment.place(id);
  return Object.fromEntries(Object.entries(worlds).filter(([id]) => deployment.isHere(id)));
}

/** The runtime of a server. Before each answer it reads what other processes committed. */
class ServedAssize extends Assize {
  protected override get background(): Background {
    return { follows: false };
  }
}

/**
 * Creates the worlds of the configuration that the store does not have. Another process may create
 * the same world at the same time.
 *
 * @throws ServerError `bad_config`; the errors of the creation
 */
async function createWorlds({
  assize,
  config,
  domains,
  store,
}: Pick<ServerService, 'assize' | 'config' | 'domains' | 'store'>): Promise<void> {
  const known = new Set((await assize.trajectories()).map(({ trajectory_id }) => trajectory_id));
  for (const [trajectoryId, world] of Object.entries(config.worlds)) {
    const domain = domains.find(({ name }) => name === world.domain) as Domain;
    if (known.has(trajectoryId)) {
      await requireOwn(store, trajectoryId);
      continue;
    }
    try {
      await assize.create(domain, {
        trajectoryId,
        ...(world.initial !== undefined && { initial: world.initial }),
        ...(world.note !== undefined && { note: world.note }),
      });
    } catch (error) {
      if (!isAssizeError(error, 'exists')) throw error;
    }
  }
}

/** An agent chose the name of a delegated trajectory, and a world must not meet it. */
async function requireOwn(store: ServerService['store'], trajectoryId: string): Promise<void> {
  const [first] = await store.entries(trajectoryId, { from: 0, limit: 1 });
  const begun = first && readRow(first).payload;
  if (begun?.kind !== 'root' || begun.delegated_from === undefined) return;
  throw new ServerError(
    'bad_config',
    `The world ${trajectoryId} has the name of a trajectory that an agent delegated. Give the world another name.`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}
