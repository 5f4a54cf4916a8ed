import type { Commit, Payload } from '../entries/payloads.ts';
import { wrongBeliefs } from './beliefs.ts';
import { isHalt, isRevocation, isUpgrade } from './built-in-forms.ts';
import type { ChainState } from './chain-state.ts';

/** The rules for a commit by itself, that is not a settlement: '' or the reason, as a sentence. */
export function wrongCommit(commit: Commit, state: ChainState): string {
  const wrong = wrongBuiltIn(commit, state);
  if (wrong !== '') return wrong;
  const { resolves, counselor, approved_by: approved, amended } = commit;
  const isUpgrade = commit.action.name === 'assize.upgrade';
  const hasDecider = counselor !== undefined || approved !== undefined || amended !== undefined;
  if (resolves === undefined && hasDecider && !isUpgrade)
    return 'It decides nothing, and names an approver.';
  return wrongBeliefs(commit.delta.beliefs, commit.at);
}

function wrongBuiltIn(commit: Commit, { first, domain }: ChainState): string {
  switch (commit.action.name) {
    case 'assize.revoke':
      return isRevocation(commit)
        ? wrongFrom(commit, first)
        : 'It is a revocation of another form.';
    case 'assize.halt':
      return isHalt(commit) ? wrongFrom(commit, first) : 'It is a halt of another form.';
    case 'assize.upgrade': {
      if (!isUpgrade(commit)) return 'It is an upgrade of another form.';
      const { from, to } = commit.action.args as {
        readonly from: string;
        readonly to: { name: string; hash: string };
      };
      if (domain === undefined) return '';
      const fits = from === domain.hash && to.hash !== from && to.name === domain.name;
      return fits ? '' : 'It upgrades from another domain than the one in force.';
    }
    default:
      return '';
  }
}

/** An entry that is taken over comes from the trajectory that delegated. */
function wrongFrom({ action }: Commit, first: Payload | undefined): string {
  const { from } = action.args as { readonly from?: { readonly trajectory_id: string } };
  if (from === undefined || first === undefined) return '';
  const above = first.kind === 'root' ? first.delegated_from?.trajectory_id : undefined;
  return from.trajectory_id === above
    ? ''
    : 'It is taken over from a trajectory that did not delegate.';
}
