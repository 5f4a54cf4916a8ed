import {
  bold,
  CliError,
  dim,
  domainOption,
  EXIT,
  inSession,
  line,
  loadDomains,
  type OpeningOptions,
  type Output,
  type Session,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import type { Domain } from 'assize/internal/kernel';
import { actionView, domainView } from 'assize/internal/views';
import type { Command } from 'commander';

type Options = SharedOptions & Pick<OpeningOptions, 'domain'>;

export function domains(program: Command): void {
  withSharedOptions(
    program
      .command('domains')
      .description('list the domains, or show a domain or the argument schema of a tool')
      .argument('[name]', 'name of a domain')
      .argument('[tool]', 'name of an action of the domain')
      .addOption(domainOption),
  ).action(
    inSession(async (session, options: Options, name?: string, tool?: string) => {
      const known = await loadDomains(options.domain);
      if (name === undefined) listDomains(session, known);
      else {
        const domain = named(known, name);
        if (tool === undefined) showDomain(session, domain);
        else showTool(session, domain, tool);
      }
      return EXIT.ok;
    }),
  );
}

function named(known: readonly Domain[], name: string): Domain {
  const domain = known.find((candidate) => candidate.name === name);
  if (domain !== undefined) return domain;
  const names = known.map((candidate) => candidate.name).join(', ');
  throw new CliError(
    'not_found',
    `The domain ${name} does not exist. Name one of ${names}, or pass its file with --domain FILE.`,
  );
}

function listDomains({ json, out }: Session, known: readonly Domain[]): void {
  if (json) {
    out.document({
      domains: known.map(({ name, version, hash, actions, roles, rules }) => ({
        name,
        version,
        hash,
        actions: Object.keys(actions),
        roles: Object.keys(roles),
        invariants: rules.map(({ id }) => id),
      })),
    });
    return;
  }
  for (const { name, version, hash, actions, roles, rules } of known) {
    out.line(line`${bold(`${name}@${version}`)} ${dim(hash)}`);
    out.line(line`  actions     ${Object.keys(actions).join(', ')}`);
    out.line(line`  roles       ${Object.keys(roles).join(', ')}`);
    out.line(line`  invariants  ${rules.map(({ id }) => id).join(', ') || 'none'}`);
  }
}

function showDomain({ json, out }: Session, domain: Domain): void {
  const all = domainView(domain);
  if (json) {
    out.document(all);
    return;
  }
  out.line(line`${bold(`${all.name}@${all.version}`)} ${dim(all.hash)}`);
  out.line(line`An open approval freezes ${FROZEN[all.freeze]}.`);
  section(out, 'Processes');
  out.table(
    [{ title: 'process' }, { title: 'reads' }, { title: 'writes' }],
    all.processes.map(({ name, reads, writes }) => [name, list(reads), list(writes)]),
  );
  section(out, 'Roles');
  out.table(
    [{ title: 'role' }, { title: 'parameters' }, { title: 'processes' }],
    all.roles.map(({ name, params, processes }) => [name, list(params), list(processes)]),
  );
  section(out, 'Actions');
  for (const { name, process, description, args } of all.actions) {
    out.line(
      line`${bold(name)} of ${process}${description === undefined ? '' : `: ${description}`}`,
    );
    out.document(args);
  }
  section(out, 'Invariants, in order: the first failing one decides');
  out.table(
    [
      { title: '#', align: 'right' },
      { title: 'invariant' },
      { title: 'escalates to' },
      { title: 'footprint' },
    ],
    all.invariants.map(({ id, channel, approvals, footprint }, i) => [
      i + 1,
      id,
      [...(channel === undefined ? [] : [channel]), ...several(approvals)].join(', '),
      list(footprint),
    ]),
  );
  section(out, 'Counselors');
  out.line(line`${list(all.counselors)}`);
}

function showTool({ json, out }: Session, domain: Domain, tool: string): void {
  if (!Object.keys(domain.actions).includes(tool)) {
    const names = Object.keys(domain.actions).join(', ');
    throw new CliError(
      'not_found',
      `The domain ${domain.name} has no tool ${tool}. Name one of: ${names}.`,
    );
  }
  const all = actionView(domain, tool);
  if (json) {
    out.document(all);
    return;
  }
  out.line(
    line`${bold(all.name)} of ${all.process}${all.description === undefined ? '' : `: ${all.description}`}`,
  );
  out.document(all.args);
}

function several(approvals: number = 1): string[] {
  return approvals > 1 ? [`${approvals} approvers`] : [];
}

function section(out: Output, title: string): void {
  out.line(line``);
  out.line(bold(title));
}

function list(items: readonly string[]): string {
  return items.join(', ') || 'none';
}

/** The text for `freeze`: the part of the state that an open approval freezes. */
const FROZEN = {
  world: 'the whole state',
  footprint: 'the overlapping footprints',
  reserve: 'the members that it changes, and room for its own changes',
} as const;
