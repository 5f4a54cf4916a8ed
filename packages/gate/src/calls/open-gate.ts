import { existsSync, readFileSync } from 'node:fs';
import { issueWrit, segment, type Writ } from 'assize/internal/authority';
import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import { createAssize, DEFAULT_PERIOD, type Environment, rootKeyOf } from 'assize/internal/config';
import { type Domain, UPGRADE_ACTION, upgradeScope } from 'assize/internal/kernel';
import { systemClock } from 'assize/internal/oracle';
import { Assize, type AssizeOptions, type Trajectory } from 'assize/internal/runtime';
import { openStore, sealKeys } from 'assize/internal/stores';
import {
  agentName,
  configuration,
  type GatewayState,
  gateway,
  isConfigured,
  readRules,
  readTrial,
  serverName,
  type TrialSet,
  trialFileOf,
} from '#gateway';
import { CallError } from './errors.ts';
import { Gate, type GateOptions } from './gate.ts';
import { HttpPort } from './http-port.ts';
import { LocalPort } from './local-port.ts';
import { LocalWorld } from './local-world.ts';
import { upgradeGateway } from './upgrade-gateway.ts';

export interface OpenGateOptions extends GateOptions {
  /** URL of the store. A missing store is created. Default: `sqlite:./assize.db`. */
  readonly store?: string;
  /**
   * Path of the rules file, with its trial set beside it. Default: the rules in force stay; in a
   * new store, every call asks.
   */
  readonly rules?: string;
  /** The agent in the rules and in the ledger. Default: `agent`. */
  readonly agent?: string;
  /** The trajectory of the calls. Default: `calls`. */
  readonly trajectory?: string;
  /** When a question expires. Default: as `createAssize`. */
  readonly approvals?: AssizeOptions['approvals'];
  /** The variables of the root key. Default: those of the process. */
  readonly env?: Environment;
}

/**
 * Opens a store for the tool calls of one agent in this process, and puts the rules of the file in
 * force. People approve in `assize serve` over the same store, with `assize approve`, or as the
 * program says with `CallPort.decide`.
 *
 * @throws GatewayError `bad_rules`; CallError `bad_rules`; the errors of `createAssize`;
 * ArgumentError `bad_argument`
 */
export async function openGate(options: OpenGateOptions): Promise<Gate> {
  checkArgument(OPTIONS, options, 'options');
  const {
    store: url = 'sqlite:./assize.db',
    agent = 'agent',
    trajectory: name = 'calls',
  } = options;
  const { rules: file, env, approvals, server, waitMs, inFlightMs, turnMs } = options;
  const rules = file === undefined ? undefined : readRules(readFileSync(file, 'utf8'), file).rules;
  const domain = gateway(rules === undefined ? {} : { rules }) as unknown as Domain;
  const world = await upgraded({ url, env, name, domain }, () =>
    createAssize({
      ...{ store: url, domain, name },
      ...(env !== undefined && { env }),
      ...(approvals !== undefined && { approvals }),
    }),
  );
  try {
    const root = rootKeyOf(url, env);
    const grant = { ...DEFAULT_PERIOD, trajectory: name, max_depth: 0, issuer: root.publicKey };
    const writFor = (
      subject: string,
      actions: readonly string[],
      scopes: readonly string[],
    ): Writ =>
      issueWrit(
        { ...grant, subject, actions: [...actions], scopes: [...scopes], nonce: `gate:${subject}` },
        root.privateKey,
      );
    if (rules !== undefined) {
      const writ = writFor('assize:program', ['configure'], ['role:admin', 'role:admin:**']);
      await configure(
        world.trajectory as unknown as Trajectory,
        configuration(rules, [], trialIn(file)),
        writ,
      );
    }
    const principal = `agent:${agent}`;
    const scopes = [`role:agent:${segment(agent)}`, 'tool:**'];
    const writ = writFor(principal, ['begin', 'call', 'report', 'session'], scopes);
    const parts = { store: world.store, clock: systemClock, principal, writ };
    const local = new LocalWorld({
      ...parts,
      trajectory: world.trajectory as unknown as Trajectory,
    });
    const port = new LocalPort(local, () => world.close());
    return new Gate(port, {
      server,
      ...(waitMs !== undefined && { waitMs }),
      ...(inFlightMs !== undefined && { inFlightMs }),
      ...(turnMs !== undefined && { turnMs }),
    });
  } catch (error) {
    await world.close();
    throw error;
  }
}

interface Upgraded {
  readonly url: string;
  readonly env: Environment | undefined;
  readonly name: string;
  readonly domain: Domain;
}

/** The opening, and again after an upgrade of a trajectory of an earlier version. */
async function upgraded<T>(
  { url, env, name, domain }: Upgraded,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isAssizeError(error, 'domain_mismatch')) throw error;
    const root = rootKeyOf(url, env);
    const issuer = root.publicKey;
    const grant = { ...DEFAULT_PERIOD, trajectory: name, max_depth: 0, issuer, nonce: 'upgrade' };
    const scopes = [upgradeScope(domain)];
    const writ = issueWrit(
      { ...grant, subject: 'assize:program', actions: [UPGRADE_ACTION], scopes },
      root.privateKey,
    );
    const store = await openStore(url, sealKeys(root));
    const assize = new Assize({ store, domains: [domain], anchors: [issuer] });
    try {
      await upgradeGateway(assize, name, { store, domain, writ });
    } finally {
      await assize.close();
      await store.close();
    }
    return open();
  }
}

export interface ConnectGateOptions extends GateOptions {
  /** The address of `assize serve`, such as `http://127.0.0.1:4517`. */
  readonly url: string;
  /** The token of the agent. */
  readonly token: string;
  /** The trajectory of the calls. Default: `calls`. */
  readonly trajectory?: string;
  /** The tokens of people for whom this program records decisions, by their principals. */
  readonly people?: Readonly<Record<string, string>>;
}

/**
 * A gate whose calls are judged and recorded by a server, under its rules. The server is asked at
 * the first call.
 *
 * @throws ArgumentError `bad_argument`
 */
export function connectGate(options: ConnectGateOptions): Gate {
  checkArgument(CONNECT_OPTIONS, options, 'options');
  const { url, token, trajectory = 'calls', people = {}, ...gate } = options;
  return new Gate(new HttpPort({ url, token, trajectory, people }), gate);
}

/** The trial set beside a rules file, if there is one. */
function trialIn(file: string | undefined): TrialSet | undefined {
  const beside = file === undefined ? '' : trialFileOf(file);
  return existsSync(beside) ? readTrial(readFileSync(beside, 'utf8'), beside) : undefined;
}

async function configure(
  trajectory: Trajectory,
  wanted: ReturnType<typeof configuration>,
  writ: Writ,
): Promise<void> {
  if (isConfigured(trajectory.state() as unknown as GatewayState, wanted)) return;
  const ruling = await trajectory.propose({
    action: 'configure',
    role: 'admin',
    args: wanted as never,
    writ,
  });
  if (ruling.ruling === 'committed') return;
  const { detail } = ruling;
  throw new CallError(
    'bad_rules',
    `The rules ${wanted.rules.id} are not in force in ${trajectory.id}: ${detail}.`,
    {
      evidence: { trajectory_id: trajectory.id },
    },
  );
}

function isAddress(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  return (
    isHttp &&
    `${url.pathname}${url.search}${url.hash}` === '/' &&
    `${url.username}${url.password}` === ''
  );
}

function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

const SERVER = arg.of('a server of letters, digits and _ : @ -, such as shop', (value) =>
  isNamed(serverName, value),
);
const AGENT = arg.of('an agent of letters, digits and _ . : @ + -, such as ada', (value) =>
  isNamed(agentName, value),
);

function isNamed(form: typeof serverName, value: unknown): boolean {
  return form.safeParse(value).success;
}

const GATE_OPTIONS = {
  server: SERVER,
  waitMs: arg.optional(arg.wholeFrom(0)),
  inFlightMs: arg.optional(arg.wholeFrom(0)),
  turnMs: arg.optional(arg.wholeFrom(0)),
} as const;

const OPTIONS = arg.options<OpenGateOptions>({
  ...GATE_OPTIONS,
  store: arg.optional(arg.text),
  rules: arg.optional(arg.text),
  agent: arg.optional(AGENT),
  trajectory: arg.optional(arg.text),
  approvals: arg.any,
  env: arg.optional(arg.object),
});

const CONNECT_OPTIONS = arg.options<ConnectGateOptions>({
  url: arg.of(
    'the address of a server: http or https, without a path, a user or a password',
    isAddress,
  ),
  token: arg.of('a token of visible letters, without a line break', isToken),
  trajectory: arg.optional(arg.text),
  people: arg.optional(arg.object),
  ...GATE_OPTIONS,
});
