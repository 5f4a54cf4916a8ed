import {
  isAmount,
  MAX_DEPTH,
  MAX_TEXT,
  normalizeAction,
  normalizeScope,
  type Policy,
} from '#authority';
import { EFFECT_ATTEMPTS_MAX, requireOwnTool, type Tool } from '#effects';
import {
  type Domain,
  faultOfName,
  hasReservedPrefix,
  isSamePrincipal,
  requireOwnDomain,
} from '#kernel';
import { isHash } from '#ledger';
import type { Embedder } from '#memory';
import type { ApprovalOptions, EffectOptions, Judge } from '#runtime';
import type { AssizeConfig, Grant, MemoryConfig, PrincipalConfig, WorldConfig } from '../config.ts';
import { ConfigError } from '../errors.ts';
import {
  accepted,
  all,
  anything,
  at,
  code,
  constantOr,
  type Fault,
  type Form,
  firstFault,
  fits,
  list,
  object,
  oneOf,
  optional,
  record,
  text,
  whole,
} from './form.ts';
import { mcp } from './mcp-forms.ts';
import { mailAddress, notices, server } from './server-forms.ts';
import { simulations } from './simulation-forms.ts';

/** Maximum times that an agent of a config may pass authority on. */
const DELEGATIONS_MAX = Math.min(5, MAX_DEPTH);
const TRAJECTORY = /^[A-Za-z0-9._:-]{1,128}$/;
const MILLISECONDS_MAX = 999_999_999_999;
const RECOVERY_KEY_CHARACTERS_MIN = 32;

const trajectoryName: Form = fits(
  '1 to 128 letters, digits, dots, colons, dashes or underscores, or *',
  (value) => typeof value === 'string' && (value === '*' || TRAJECTORY.test(value)),
);

const unitFault = (unit: string): string | undefined =>
  unit === '' || unit.length > MAX_TEXT ? `named with 1 to ${MAX_TEXT} characters` : undefined;

const actions: Form = list(accepted('a pattern of actions, such as pay or **', normalizeAction), 1);
const scopes: Form = list(
  accepted('a pattern of scopes, such as role:clerk or **', normalizeScope),
  1,
);

const grant: Form = object<Grant>({
  trajectories: optional(list(trajectoryName, 1)),
  actions,
  scopes: optional(scopes),
  budget: optional(record(unitFault, fits('a whole number from 0', isAmount))),
  requireApproval: optional(list(accepted('a pattern of actions', normalizeAction))),
  maxDepth: optional(whole(0, DELEGATIONS_MAX)),
});

/** The members of a principal. The claims of a token can be mapped to them too. */
const principal: Form = all(
  object<PrincipalConfig>({
    kinds: list(oneOf(['agent', 'counselor', 'auditor', 'admin']), 1),
    grants: optional(list(grant)),
    email: optional(mailAddress),
    slack: optional(
      fits('a workspace and a member of Slack, such as T0123ABCD/U0456EFGH', (value) =>
        /^[TE][A-Z0-9]+\/[UW][A-Z0-9]+$/.test(value),
      ),
    ),
  }),
  (value, path) => {
    const { kinds, grants = [] } = value as PrincipalConfig;
    if (grants.length === 0 || kinds.includes('agent')) return undefined;
    return {
      path: `${path}.grants`,
      wanted: 'left out, because only a principal of the kind agent has grants',
    };
  },
);

const principals: Form = all(
  record(nameFault, principal),
  (value, path) => noLookAlikes(Object.keys(value as object), path),
  (value, path) => {
    const all = Object.entries(value as Readonly<Record<string, PrincipalConfig>>);
    const members = all.map(([, { slack }]) => slack);
    // A click of one member must not count as the decision of two persons.
    const again = members.findIndex((one, i) => one !== undefined && members.indexOf(one) < i);
    const name = all[again]?.[0];
    return name === undefined
      ? undefined
      : { path: `${at(path, name)}.slack`, wanted: 'the member of one principal' };
  },
);

const world: Form = object<WorldConfig>({ domain: text, initial: anything, note: optional(text) });

const worlds: Form = record(
  (name) =>
    TRAJECTORY.test(name)
      ? undefined
      : 'named with 1 to 128 letters, digits, dots, colons, dashes or underscores',
  world,
);

const approvals: Form = object<Pick<ApprovalOptions, 'timeoutMs' | 'maxPending'>>({
  timeoutMs: optional(constantOr('never', whole(1, MILLISECONDS_MAX))),
  maxPending: optional(constantOr('unlimited', whole(1, Number.MAX_SAFE_INTEGER))),
});

const resolver: Form = fits(
  'a function, or a list of functions',
  (value) =>
    typeof value === 'function' ||
    (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'function')),
);

const effects: Form = object<EffectOptions>({
  resolvers: optional(
    record(
      (kind) => (/^[a-z0-9+._-]+$/.test(kind) ? undefined : 'named by a kind of scope'),
      resolver,
    ),
  ),
  blockTimeoutMs: optional(whole(100, 2_147_483_647)),
  callTimeoutMs: optional(whole(1, 2_147_483_647)),
  maxAttempts: optional(whole(1, EFFECT_ATTEMPTS_MAX)),
  leaseMs: optional(whole(100, 2_147_483_647)),
  frontier: optional(oneOf(['derived', 'none'])),
  recoveryKey: optional(
    fits(
      `a text of at least ${RECOVERY_KEY_CHARACTERS_MIN} characters`,
      (value) => typeof value === 'string' && value.length >= RECOVERY_KEY_CHARACTERS_MIN,
    ),
  ),
  onRecoveryFailed: optional(code),
});

const judge: Form = fits(
  'a judge with `oracle` and `choose`',
  (value: Judge | undefined) =>
    typeof value?.oracle === 'object' && typeof value.choose === 'function',
);

const embedder: Form = fits(
  'an embedder with `id`, `dimensions` and `embed`',
  (value: Embedder | undefined) =>
    typeof value?.id === 'string' &&
    value.id !== '' &&
    Number.isSafeInteger(value.dimensions) &&
    value.dimensions > 0 &&
    typeof value.embed === 'function',
);

const policy: Form = fits(
  'a policy, or the path of its file',
  (value: Policy | string | undefined) =>
    (typeof value === 'string' && value !== '') ||
    (typeof value === 'object' &&
      value !== null &&
      typeof value.evaluate === 'function' &&
      isHash(value.digest)),
);

const domain: Form = fits(
  'a domain, the result of defineDomain',
  (value: Partial<Domain> | undefined) =>
    [value?.name, value?.version, value?.hash].every((member) => typeof member === 'string') &&
    Array.isArray(value?.rules) &&
    typeof value.bind === 'function',
);

const tool: Form = fits(
  'a tool, the result of declareTool',
  (value: Partial<Tool> | undefined) =>
    typeof value?.name === 'string' &&
    typeof value.spec === 'object' &&
    typeof value.parse === 'function' &&
    typeof value.claims === 'function',
);

const store: Form = fits(
  'sqlite:./file.db, sqlite:/absolute/file.db, postgres://user:password@host/database, or memory:',
  (value) =>
    typeof value === 'string' && /^(?:sqlite:.+|postgres(?:ql)?:\/\/.+|memory:)$/s.test(value),
);

const archive: Form = fits(
  'file:FOLDER or s3:BUCKET/PREFIX',
  (value) => typeof value === 'string' && /^(?:file|s3):.+$/s.test(value),
);

const CONFIG: Form = object<AssizeConfig>({
  store: optional(store),
  archive: optional(archive),
  domains: optional(all(list(domain), ownDomains)),
  migrations: optional(record(() => undefined, code)),
  tools: optional(all(list(tool), ownTools)),
  policy: optional(policy),
  worlds: optional(worlds),
  simulations: optional(simulations),
  principals: optional(principals),
  approvals: optional(approvals),
  effects: optional(effects),
  memory: optional(
    object<MemoryConfig>({
      judge: optional(judge),
      embedder: optional(embedder),
      model: optional(code),
      theta: optional(
        object<NonNullable<MemoryConfig['theta']>>({ model_version: optional(text) }),
      ),
    }),
  ),
  notices: optional(notices),
  server: optional(server),
  mcp: optional(mcp),
});

/**
 * Checks each member of a config, also for callers without types. `source`: the file in the
 * message.
 *
 * @throws ConfigError `bad_config` with the path of the member; DuplicatePackageError
 * `duplicate_package` for a domain or tool of another copy of the package
 */
export function checkConfig(
  config: unknown,
  source = 'The config',
): asserts config is AssizeConfig {
  refuse(CONFIG(config, ''), source);
}

/**
 * Checks the principal that a mapping of claims returned.
 *
 * @throws ConfigError `bad_config`
 */
export function checkPrincipal(
  name: string,
  given: unknown,
  source: string,
): asserts given is PrincipalConfig {
  const wanted = nameFault(name);
  refuse(wanted === undefined ? principal(given, '') : { path: 'name', wanted }, source);
}

function refuse(fault: Fault | undefined, source: string): void {
  if (fault !== undefined) throw badConfig([fault], source);
}

/** The error of a config with these faults. The message has no value that can be a secret. */
export function badConfig(faults: readonly Fault[], source: string): ConfigError {
  const paths = faults.map(({ path }) => path);
  const lines = faults.map(
    ({ path, wanted }) => `${path === '' ? '' : `: ${path}`} must be ${wanted}.`,
  );
  const message =
    lines.length === 1 ? `${source}${lines[0]}` : [`${source}:`, ...lines.map(indented)].join('\n');
  return new ConfigError('bad_config', message, {
    evidence: { path: paths[0], ...(paths.length > 1 && { paths }) },
  });
}

function indented(line: string): string {
  return line.replace(/^:? */, '  ');
}

function nameFault(name: string): string | undefined {
  const fault = faultOfName(name);
  if (fault !== undefined) return `named as in the ledger: ${fault}`;
  return hasReservedPrefix(name)
    ? 'named without the prefix assize:, which is for the server'
    : undefined;
}

/** Two names that people can't tell apart would be two principals with one face. */
function noLookAlikes(names: readonly string[], path: string): Fault | undefined {
  return firstFault([...names.keys()], (i) => {
    const name = names[i] as string;
    const other = names.slice(0, i).find((before) => isSamePrincipal(before, name));
    return other === undefined
      ? undefined
      : { path: at(path, name), wanted: `named unlike ${other}` };
  });
}

function ownDomains(value: unknown, path: string): Fault | undefined {
  const domains = value as readonly Domain[];
  for (const domain of domains) requireOwnDomain(domain);
  return firstFault([...domains.keys()], (i) => {
    const { name, version, hash } = domains[i] as Domain;
    const other = domains
      .slice(0, i)
      .find((before) => before.name === name && before.version === version);
    if (other === undefined || other.hash === hash) return undefined;
    return {
      path: `${path}[${i}]`,
      wanted: `of another name or version than ${name}@${version}, which is there already`,
    };
  });
}

function ownTools(value: unknown, path: string): Fault | undefined {
  const tools = value as readonly Tool[];
  for (const tool of tools) requireOwnTool(tool);
  return firstFault([...tools.keys()], (i) => {
    const { name } = tools[i] as Tool;
    const isAgain = tools.slice(0, i).some((before) => before.name === name && before !== tools[i]);
    return isAgain
      ? { path: `${path}[${i}]`, wanted: `named unlike ${name}, which is there already` }
      : undefined;
  });
}
