import { homedir } from 'node:os';
import { HOME_SECRETS, SECRETS } from '#gateway';

/** The agent whose calls the MCP gateway makes. The gateway pins definitions. */
export const MCP_AGENT = 'agent:mcp';

/** The authority of an agent whose hooks ask about its calls. */
const HOOKED = { trajectories: ['calls'], actions: ['call', 'begin', 'report', 'session'] };

const GRANTS: Readonly<Record<string, object>> = {
  'agent:claude-code': HOOKED,
  'agent:codex': HOOKED,
  [MCP_AGENT]: {
    ...{ trajectories: ['calls'], actions: ['call', 'begin', 'report', 'pin'] },
    scopes: [`role:${MCP_AGENT}`, 'role:gate', 'tool:**'],
  },
};

interface OwnServer {
  readonly person: string;
  /** The address that its clients get. */
  readonly address: string;
}

/** The configuration of a server for agents on a person's own machine. */
export function serverConfig({ person, address }: OwnServer): string {
  const config = {
    store: 'sqlite:./assize.db',
    policy: './assize.yaml',
    // Every hook of a session is a request, and one that waits for a person stays open.
    server: { ...listening(address), limits: { requestsPerSecond: 500, concurrency: 256 } },
    worlds: { calls: { domain: 'gateway' } },
    principals: {
      ...Object.fromEntries(
        Object.entries(GRANTS).map(([agent, grant]) => [
          agent,
          { kinds: ['agent'], grants: [grant] },
        ]),
      ),
      [person]: { kinds: ['counselor', 'auditor', 'admin'] },
    },
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

export const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Where a server listens that its clients find at an address of this machine. Of another address
 * only the person knows how it leads to the server.
 */
function listening(address: string): { readonly host?: string; readonly port?: number } {
  const { protocol, hostname, port } = new URL(address);
  if (protocol !== 'http:' || !LOOPBACK.includes(hostname)) return {};
  return {
    ...(hostname !== '127.0.0.1' && { host: hostname.replace(/[[\]]/g, '') }),
    ...(port !== '4517' && { port: Number(port || 80) }),
  };
}

/** Places of the system that tell nothing of a person. */
const SYSTEM_PLACES =
  '/dev/null, /etc/os-release, /proc/cpuinfo, /proc/meminfo, /proc/version, /usr/include, /usr/lib/os-release';

/** Programs that change the files that they name, and commands of git that change the work tree. */
const PROGRAMS =
  'shell/chmod, shell/cp, shell/find, shell/gzip, shell/ln, shell/mkdir, shell/mv, shell/rm, shell/sed, shell/sort, shell/tee, shell/touch';
const GIT =
  'add, branch, checkout, cherry-pick, commit, fetch, merge, mv, pull, reset, restore, revert, stash apply, stash pop, stash push, switch, tag';

/** When the rules begin to hold, and for whom. Default: now, for the person who runs this. */
interface FirstRules {
  readonly until?: string;
  readonly home?: string;
  readonly hasSandbox?: boolean;
}

/**
 * Rules to begin with: reading is free, work in the project is free, the rest asks. `until`: the
 * day to which they only observe, except for secrets and the settings of the agents.
 */
export function firstRules(
  project: string,
  { until, home = homedir(), hasSandbox = false }: FirstRules = {},
): string {
  const place = JSON.stringify(project);
  const secrets = [
    // A name without stars is also known under its other names.
    `${project}/.env`,
    ...SECRETS.map((name) => `**/${name}`),
    ...HOME_SECRETS.map((name) => `${home}/${name}`),
    // The variables of programs.
    '/proc/*/environ',
  ];
  const observe = until === undefined ? '' : `mode: observe\nuntil: ${until}\n`;
  return `# Rules for the calls of coding agents. Check them with: assize policy check assize.yaml
id: coding
${observe}default: ask
rules:
  - { id: look, allow: ['files/*', 'shell/*'], class: read, path: [${place}, ${SYSTEM_PLACES}] }
  - { id: names, allow: [shell/ls, shell/test], class: read }
  - { id: search, allow: ['web/search', 'claude-code/*', 'codex/*'], class: read }
  - { id: edit, allow: ['files/write', 'files/edit', 'shell/write'], path: ${place} }
  - id: git
    allow: shell/git
    path: ${place}
    where: [{ path: /command, in: [${hasSandbox ? 'add, commit, branch, stash push' : GIT}] }]
${hasSandbox ? SANDBOX_RULES : workRules(place)}  - id: secrets
    deny: '*'
    path: ${JSON.stringify(secrets)}
    because: Secrets stay where they are.
    mode: enforce
  - { id: settings, ask: [claude-code/settings, codex/settings, shell/assize, shell/claude, shell/codex], standing: false, mode: enforce }
  # To let a command through without a question, uncomment this line. The command then runs what
  # package.json says, which the agent may have written:
  # - { id: test, allow: shell/npm, path: ${place}, where: [{ path: /argv, is: [test] }] }
`;
}

/** Work in the project is free, and what removes more than it names asks. */
function workRules(place: string): string {
  return `  - id: files
    allow: [${PROGRAMS}]
    path: ${place}
  - { id: pack, allow: shell/tar, path: ${place}, where: [{ path: /flags, any: [--create] }] }
  - { id: git-removes, ask: shell/git, where: [{ path: /flags, any: [--force, --amend, --hard, --keep, --merge, --force-create, --orphan, --discard-changes, --update-head-ok] }] }
  - { id: git-untags, ask: shell/git, where: [{ path: /command, is: tag }, { path: /flags, any: [--delete] }] }
  - { id: git-untracks, allow: shell/git, path: ${place}, where: [{ path: /command, is: rm }, { path: /flags, any: [--cached] }] }
  - { id: remove, ask: [shell/rm, shell/find, shell/tar], where: [{ path: /flags, any: [--recursive, -delete, --remove-files] }] }
`;
}

/**
 * The operating system holds a command in a sandbox, so only what leaves it is asked about. Outside
 * of a sandbox no rule lets a command through that removes something.
 */
const SANDBOX_RULES = `  - { id: sandboxed, allow: 'shell/*', where: [{ path: /sandboxed, exists: true, is: true }] }
  - { id: push, ask: shell/git, where: [{ path: /command, is: push }] }
`;
