import { bold, dim, line, type Printable } from '@assize/command';
import { type Writ, writId } from 'assize/internal/authority';
import { shortTime } from 'assize/internal/views';

/** Digits of a writ's id or a key in a narrow column. */
const SHORT = 12;

/** A public key or id by its first digits. Any other name is unchanged. */
export function shortName(name: string): string {
  return /^[0-9a-f]{64}$/.test(name) ? name.slice(0, SHORT) : name;
}

/** One line: the writ, its issuer and its holder. */
export function headingOf(writ: Writ): Printable {
  return line`${bold(shortName(writId(writ)))} ${shortName(writ.issuer)} → ${shortName(writ.subject)}`;
}

/** The grants of a writ, one per line. Every name in it may come from any issuer. */
export function grantLines(writ: Writ): Printable[] {
  const { actions = [], scopes = [], budget = {}, require_approval = [], trajectory } = writ;
  return [
    line`  ${dim('actions')}     ${listed(actions)}`,
    line`  ${dim('scopes')}      ${listed(scopes)}`,
    line`  ${dim('budget')}      ${amountsOf(budget)}`,
    line`  ${dim('trajectory')}  ${trajectory ?? 'any'}`,
    line`  ${dim('valid')}       ${shortTime(writ.not_before)} to ${shortTime(writ.expires)}, ${writ.max_depth} levels of descendants`,
    ...(require_approval.length === 0
      ? []
      : [line`  ${dim('approval')}    ${listed(require_approval)}`]),
  ];
}

export function amountsOf(amounts: Readonly<Record<string, number>>): string {
  return listed(Object.entries(amounts).map(([unit, amount]) => `${amount} ${unit}`));
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
