import { bold, dim, line, type Output } from '@assize/command';
import { counted, shortId } from 'assize/internal/views';
import type { ResponsePlan } from '#incidents';

/** The steps of a response, each with its outcome if it was carried out. */
export function printSteps(
  out: Output,
  steps: readonly { readonly text: string; readonly outcome?: string }[],
): void {
  out.line(
    steps.length === 0 ? line`No step is needed.` : line`${bold(counted(steps.length, 'step'))}`,
  );
  for (const { text, outcome } of steps)
    out.line(line`  ${outcome === undefined ? '' : `${outcome} `}${text}`);
}

/** The items that no step undoes, each with the reason and the advice. */
export function printRemains(out: Output, remains: ResponsePlan['remains']): void {
  if (remains.length === 0) return;
  out.line(line`${bold(counted(remains.length, 'item'))} that no step undoes`);
  for (const { what, entry, why, advice } of remains) {
    out.line(entry === undefined ? line`  ${what}` : line`  ${what} ${dim(shortId(entry))}`);
    out.line(line`    ${why}. Do: ${advice}`);
  }
}
