import type { Approval } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { commonSum } from './common-sum.ts';

/** `, €3.00 in all` after a count of proposals with one common number. */
export function SumText({ approvals }: { readonly approvals: readonly Approval[] }) {
  const found = commonSum(approvals);
  return found === undefined ? null : <Inert>{`, ${found.text} in all`}</Inert>;
}
