import {
  asksYes,
  CliError,
  canAsk,
  EXIT,
  line,
  type Output,
  project,
  withSharedOptions,
} from '@assize/command';
import { credentialsOf } from '@assize/server/internal';
import { isInstance, nearestName } from 'assize/internal/base';
import { GrantIssuer, type RootKey } from 'assize/internal/config';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import {
  type CellPlace,
  CellsError,
  type CellsFile,
  type DirectoryState,
  openCellReadonly,
} from '../index.ts';
import {
  type Deployment,
  forceOption,
  inDeployment,
  type OrderOptions,
  principalOption,
  reasonOption,
} from './deployment.ts';

interface Options extends OrderOptions {
  readonly yes?: boolean;
}

/** The trajectories of one cell in which a principal has used grants. */
interface CellGrants {
  readonly cell: string;
  readonly trajectories: readonly string[];
  /** The reason why the store of the cell cannot be read. */
  readonly fault?: string;
}

/** Everything about a principal that the command can read. */
interface Known {
  readonly grants: readonly CellGrants[];
  readonly tokens: number;
  readonly isConfigured: boolean;
  /** The principals of tokens and of the configuration. */
  readonly names: readonly string[];
}

/** Trajectories of a cell that a line names. */
const NAMED_MAX = 5;

export function revoke(family: Command): void {
  withSharedOptions(
    family
      .command('revoke')
      .description('revoke every grant of a principal in every cell, for good')
      .argument('<name>', 'name of the principal')
      .addOption(reasonOption)
      .addOption(principalOption)
      .addOption(forceOption)
      .option('--yes', 'do not ask at a terminal'),
  )
    .addHelpText(
      'after',
      'A revocation has no end: the principal is refused in every cell from then on, and its successor needs another name.\n' +
        'A name without a grant or a token is refused without --force.',
    )
    .action(
      inDeployment(
        async (deployment, { json, out, interruption }, options: Options, name: string) => {
          const { reason, principal, force = false, yes = false } = options;
          const known = await knownOf(deployment, name);
          if (!force) requireKnown(known, name);
          requireNotRevoked(await deployment.log.read(), name);
          if (!json) print(known, name, out);
          if (
            !json &&
            !yes &&
            canAsk() &&
            !(await asksYes(`Revoke ${name} for good?`, interruption))
          )
            return EXIT.negative;
          await deployment.log.order('revoke', { principal: name, reason }, principal);
          if (json) out.document({ revoked: name, tokens: known.tokens, grants: known.grants });
          else out.line(line`Ordered. Each cell follows within a second, or accepts no entry.`);
          return EXIT.ok;
        },
      ),
    );
}

async function knownOf({ file, log, root }: Deployment, name: string): Promise<Known> {
  const names = new Set<string>(project()?.principals.keys());
  const isConfigured = names.has(name);
  let tokens = 0;
  for await (const row of credentialsOf(log.side, root).tokens.list()) {
    names.add(row.principal);
    if (row.principal === name) tokens++;
  }
  return { grants: await grantsIn(file, root, name), tokens, isConfigured, names: [...names] };
}

function grantsIn({ cells }: CellsFile, root: RootKey, name: string): Promise<CellGrants[]> {
  return Promise.all(cells.map((place) => grantsOf(place, root, name)));
}

async function grantsOf(place: CellPlace, root: RootKey, name: string): Promise<CellGrants> {
  const cell = place.name;
  try {
    const store = await openCellReadonly(place);
    try {
      const trajectories = await new GrantIssuer(root, store, { principals: new Map() }).placesOf(
        name,
      );
      return { cell, trajectories };
    } finally {
      await store.close();
    }
  } catch (error) {
    return {
      cell,
      trajectories: [],
      fault: isInstance(error, Error) ? error.message : String(error),
    };
  }
}

/** @throws CliError `not_found` */
function requireKnown({ grants, tokens, isConfigured, names }: Known, name: string): void {
  if (tokens > 0 || isConfigured || grants.some(({ trajectories }) => trajectories.length > 0))
    return;
  const unread = grants.filter(({ fault }) => fault !== undefined).map(({ cell }) => cell);
  const nearest = name === '' ? undefined : nearestName(name, names);
  throw new CliError(
    'not_found',
    `${name} has no token, and no used grant in the cells${unread.length === 0 ? '' : ` that can be read (${unread.join(', ')} cannot)`}.` +
      `${nearest === undefined ? '' : ` Did you mean ${nearest}?`} Pass --force to revoke the name for good anyway.`,
  );
}

/** @throws CellsError `wrong_state`, as the root log would, before the command prints and asks */
function requireNotRevoked({ revoked }: DirectoryState, name: string): void {
  if (!Object.hasOwn(revoked, name)) return;
  throw new CellsError(
    'wrong_state',
    `${name} is revoked already: ${revoked[name]}. No second revocation is needed.`,
    {
      evidence: { action: 'revoke', principal: name },
    },
  );
}

/** Prints all that the revocation ends, before the question and the order. */
function print({ grants, tokens, isConfigured }: Known, name: string, out: Output): void {
  out.line(line`A revocation of ${name} is for good, and ends in every cell:`);
  out.line(
    line`  ${counted(tokens, 'token')}${isConfigured ? ', and its grants of the configuration' : ''}`,
  );
  for (const { cell, trajectories, fault } of grants) {
    const more =
      trajectories.length > NAMED_MAX ? `, and ${trajectories.length - NAMED_MAX} more` : '';
    const named = `${trajectories.slice(0, NAMED_MAX).join(', ')}${more}`;
    if (fault !== undefined)
      out.line(line`  ${cell} cannot be read now (${fault}): its servers revoke what they find`);
    else
      out.line(
        line`  ${cell}: ${trajectories.length === 0 ? 'no used grant' : `the grants used in ${named}`}`,
      );
  }
}
