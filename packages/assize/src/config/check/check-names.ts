import { overlaps } from '#authority';
import { nearestName } from '#base';
import type { Domain } from '#kernel';
import { AGENTS } from '../grants/agents-domain.ts';
import type { ResolvedConfig, ResolvedGrant } from '../resolved-config.ts';
import { badConfig } from './check-config.ts';
import { at, type Fault } from './form.ts';

type Named = Pick<
  ResolvedConfig,
  'file' | 'worlds' | 'simulations' | 'principals' | 'mcp' | 'tools'
>;
type Names = Pick<Domain, 'name' | 'actions' | 'roles'>;

/** Actions of the runtime, such as `assize.delegate`. A domain has none with this prefix. */
const BUILT_IN = 'assize.';

/**
 * Checks the names of a config against the domains and tools: the domains of worlds and
 * simulations, the world of MCP servers, and the actions, roles and trajectories of grants. A
 * pattern must match some name. A trajectory need not exist yet.
 *
 * @throws ConfigError `bad_config` with each unknown name and its path
 */
export function checkNames(config: Named, domains: readonly Names[]): void {
  const { file, worlds, simulations, principals, mcp } = config;
  const domainFault = (path: string, { domain }: { readonly domain: string }) =>
    unknown(`${path}.domain`, 'domain', domain, names(domains));
  const faults = [
    ...Object.entries(worlds).flatMap(([name, one]) => domainFault(at('worlds', name), one)),
    ...[...simulations].flatMap(([name, one]) => domainFault(at('simulations', name), one)),
    ...[...principals].flatMap(([name, { grants }]) =>
      grants.flatMap((grant, n) =>
        grantFaults(`${at('principals', name)}.grants[${n}]`, grant, config, domains),
      ),
    ),
  ];
  const judging = mcp?.world === undefined ? undefined : worlds[mcp.world]?.domain;
  if (judging !== undefined && judging !== 'gateway')
    faults.push({
      path: 'mcp.world',
      wanted: `a world of the domain gateway, and not of ${judging}`,
    });
  if (faults.length > 0)
    throw badConfig(faults, file === undefined ? 'The config' : `The config ${file}`);
}

function grantFaults(
  path: string,
  grant: ResolvedGrant,
  { worlds, tools }: Named,
  domains: readonly Names[],
): Fault[] {
  const { actions, scopes = [], requireApproval, trajectories } = grant;
  const known = domainsOf(grant, worlds, domains);
  const acts = [...known.flatMap((domain) => Object.keys(domain.actions)), ...names(tools)];
  const roles = known.flatMap((domain) => Object.entries(domain.roles));
  const actionFaults = (member: string, patterns: readonly string[]) =>
    patterns.flatMap((pattern, n) =>
      pattern.startsWith(BUILT_IN) || acts.some((name) => overlaps(pattern, name))
        ? []
        : unknown(`${path}.${member}[${n}]`, 'action or tool', pattern, acts),
    );
  return [
    ...trajectories.flatMap((id, n) =>
      id === AGENTS
        ? {
            path: `${path}.trajectories[${n}]`,
            wanted: 'another trajectory: no grant counts there',
          }
        : [],
    ),
    ...actionFaults('actions', actions),
    ...actionFaults('requireApproval', requireApproval),
    ...scopes.flatMap((scope, n) => {
      const [kind, role = ''] = scope.split(':');
      const place = `${path}.scopes[${n}]`;
      if (kind !== 'role' || role.startsWith('*')) return [];
      const own = roles.filter(([name]) => name === role);
      const all = roles.map(([name]) => name);
      if (own.length === 0) return unknown(place, 'role', role, all);
      const forms = own.map(([, { params = [] }]) =>
        ['role', role, ...params.map(() => '*')].join(':'),
      );
      if (forms.some((form) => overlaps(scope, form))) return [];
      return [
        {
          path: place,
          wanted: `of the form ${forms.join(' or ')}, one part for each parameter of the role`,
        },
      ];
    }),
  ];
}

/**
 * The domains of the trajectories of a grant. An agent that may delegate can begin a trajectory of
 * another domain, and a trajectory outside the config can have any domain.
 */
function domainsOf(
  { trajectories, maxDepth }: ResolvedGrant,
  worlds: Named['worlds'],
  domains: readonly Names[],
): readonly Names[] {
  const own = trajectories.map((id) =>
    Object.hasOwn(worlds, id) ? worlds[id]?.domain : undefined,
  );
  const isEach = own.every((domain) => domains.some(({ name }) => name === domain));
  return maxDepth === 0 && isEach ? domains.filter(({ name }) => own.includes(name)) : domains;
}

function unknown(path: string, kind: string, name: string, known: readonly string[]): Fault[] {
  if (known.includes(name)) return [];
  const nearest = nearestName(name, known);
  const remedy =
    nearest === undefined
      ? `name one of ${[...new Set(known)].sort().join(', ')}`
      : `the nearest is ${nearest}`;
  return [{ path, wanted: `a known ${kind}, and ${name} is not: ${remedy}` }];
}

function names(all: readonly { readonly name: string }[]): string[] {
  return all.map(({ name }) => name);
}
