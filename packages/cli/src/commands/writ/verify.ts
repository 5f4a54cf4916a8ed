import {
  anchorsOption,
  atOption,
  CliError,
  EXIT,
  green,
  inSession,
  line,
  readAnchors,
  readWritFile,
  red,
  repeatable,
  type Session,
  type SharedOptions,
  withSharedOptions,
  writsIn,
} from '@assize/command';
import type { WritChain } from 'assize/host';
import {
  createWritVerifier,
  type Writ,
  type WritRefusalCode,
  type WritVerifier,
  writId,
} from 'assize/internal/authority';
import type { Instant } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import type { ListedWrit } from 'assize/internal/runtime';
import type { Command } from 'commander';
import { headingOf } from '../../render/writ-text.ts';

interface Options extends SharedOptions {
  readonly anchors?: string;
  readonly at?: Instant;
  readonly action?: string;
  readonly scope: readonly string[];
  readonly principal?: string;
  readonly trajectory?: string;
  readonly in?: string;
}

/** The fault of a link, or of the checked use. Undefined if there is none. */
interface Problem {
  readonly code: WritRefusalCode;
  readonly detail: string;
}

/** Refusals of a use that leave the writ valid for other uses. */
const OF_THE_USE: ReadonlySet<WritRefusalCode> = new Set<WritRefusalCode>([
  'wrong_principal',
  'wrong_trajectory',
  'bad_resource',
  'action_not_granted',
  'scope_not_granted',
]);

/** The parts of a trajectory that the check uses. */
interface Standing {
  readonly trajectory: string;
  readonly revoked: ReadonlySet<string>;
  readonly delegated: string | undefined;
}

export function verifyWrit(command: Command): void {
  withSharedOptions(
    command
      .command('verify')
      .description('verify a writ: its chain, its validity, and a use of it')
      .argument('<writ>', 'file with the writ and its ancestors, or - for standard input')
      .addOption(anchorsOption)
      .addOption(atOption)
      .option('--action <name>', 'check that it grants this action')
      .addOption(repeatable('--scope <resource>', 'check that it grants this resource'))
      .option('--principal <name>', 'acting principal (default: the subject of the writ)')
      .option('--trajectory <name>', 'trajectory of the use (default: the trajectory of the writ)')
      .option('--in <trajectory>', 'trajectory of the use, with its revocations in the store'),
  )
    .addHelpText(
      'after',
      'Negative: the writ is not valid, or does not grant the use. assize writ show --in shows budgets.',
    )
    .action(
      inSession(async (session, options: Options, file: string) => {
        if (options.action === undefined && options.scope.length > 0)
          throw new CliError('usage', 'The option --scope needs --action. Pass both.');
        const held = readWritFile(file);
        const verifier = createWritVerifier({
          anchors: readAnchors(session.storeUrl, options.anchors),
        });
        const links = checkedLinks(verifier, held);
        const broken = links.find(({ problem }) => problem !== undefined)?.problem;
        const standing = await standingOf(session, options, held.writ);
        const problem = broken ?? useProblem(verifier, held, options, standing);
        report(session, held.writ, withRevoked(links, standing.revoked), problem, options);
        return problem === undefined ? EXIT.ok : EXIT.negative;
      }),
    );
}

/** Each link alone and with its ancestors, the root first. */
function checkedLinks(
  verifier: WritVerifier,
  { writ, chain }: WritChain,
): { writ: Writ; problem?: Problem }[] {
  const links = [writ, ...chain];
  return links
    .map((link, index) => {
      const held = verifier.verifyAnywhere(link, links.slice(index + 1));
      return held.ok ? { writ: link } : { writ: link, problem: held };
    })
    .reverse();
}

/** The revocation of a link revokes its descendants. */
function withRevoked<T extends { writ: Writ }>(links: readonly T[], revoked: ReadonlySet<string>) {
  const first = links.findIndex(({ writ }) => revoked.has(writId(writ)));
  return links.map((link, index) => ({ ...link, isRevoked: first >= 0 && index >= first }));
}

async function standingOf(session: Session, options: Options, writ: Writ): Promise<Standing> {
  const trajectory = options.in;
  if (trajectory === undefined)
    return {
      trajectory: options.trajectory ?? writ.trajectory ?? '',
      revoked: new Set(),
      delegated: undefined,
    };
  const writs = await session.withStore('readonly', (store) => writsIn(store, trajectory));
  const delegated = writs.find((listed: ListedWrit) => listed.delegated === true)?.id;
  return {
    trajectory,
    revoked: new Set(writs.flatMap(({ revoked }) => revoked?.writ ?? [])),
    delegated,
  };
}

/** A valid chain is checked for the given time, and for the action if one is named. */
function useProblem(
  verifier: WritVerifier,
  held: WritChain,
  options: Options,
  standing: Standing,
): Problem | undefined {
  const { action, scope: scopes, principal = held.writ.subject, at = systemClock.now() } = options;
  // A writ that grants no action has no action to check. All earlier checks have passed by then.
  const asked = action ?? 'assize';
  const delegated = standing.delegated ?? (options.in === undefined ? crossingOf(held) : undefined);
  const answer = verifier.check({
    ...held,
    ...standing,
    delegated,
    principal,
    at,
    action: asked,
    scopes,
  });
  if (answer.ok || (action === undefined && answer.code === 'action_not_granted')) return undefined;
  return answer;
}

/**
 * The lowest link for another trajectory than its parent's. Only a ledger shows whether it was
 * delegated.
 */
function crossingOf({ writ, chain }: WritChain): string | undefined {
  const links = [writ, ...chain];
  const crossing = links.find((link, index) => {
    const above = links[index + 1]?.trajectory;
    return above !== undefined && link.trajectory !== above;
  });
  return crossing && writId(crossing);
}

function report(
  { json, out }: Session,
  writ: Writ,
  links: readonly { writ: Writ; problem?: Problem; isRevoked: boolean }[],
  problem: Problem | undefined,
  { action, scope }: Options,
): void {
  const isValid = problem === undefined || OF_THE_USE.has(problem.code);
  if (json) {
    const said = ({ code, detail }: Problem) => ({ code, detail });
    out.document({
      id: writId(writ),
      valid: isValid,
      granted: problem === undefined,
      ...(problem && { problem: said(problem) }),
      links: links.map(({ writ: link, problem: wrong, isRevoked }) => ({
        id: writId(link),
        issuer: link.issuer,
        subject: link.subject,
        valid: wrong === undefined,
        ...(wrong && { problem: said(wrong) }),
        ...(isRevoked && { revoked: true }),
      })),
    });
    return;
  }
  for (const { writ: link, problem: wrong, isRevoked } of links) {
    if (wrong !== undefined)
      out.line(line`${red('fails')}  ${headingOf(link)}: ${wrong.detail} (${wrong.code})`);
    else out.line(line`${isRevoked ? red('revoked') : green('signed')}  ${headingOf(link)}`);
  }
  const verdict = isValid
    ? 'The writ is valid, and does not grant the use'
    : 'The writ is not valid';
  if (problem !== undefined) out.line(line`${red(verdict)}: ${problem.detail} (${problem.code})`);
  else
    out.line(
      action === undefined
        ? line`The writ is valid.`
        : line`The writ is valid, and grants ${action}${scope.length === 0 ? '' : ` on ${scope.join(', ')}`}.`,
    );
}
