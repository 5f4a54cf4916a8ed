import { contains, issueWrit, type Writ } from '#authority';
import { hashText, type KeyPair } from '#canon';
import { DEFAULT_PERIOD } from './default-writ.ts';
import type { ResolvedGrant, ResolvedPrincipal } from './resolved-config.ts';

/** The use for which a writ is wanted. */
export interface GrantedUse {
  readonly trajectory: string;
  readonly action: string;
}

/**
 * The writ of an agent of the config in one trajectory: its first grant there that has the action,
 * or else its first grant there. Undefined if it has no grant there.
 *
 * The same grant makes the same writ, so a repeated proposal is the same proposal, and the budget
 * of a grant counts over all its writs.
 *
 * @throws AuthorityError `bad_writ` for a name that no writ can have
 */
export function grantedWrit(root: KeyPair, agent: ResolvedPrincipal, use: GrantedUse): Writ | undefined {
  const here = agent.grants.filter(({ trajectories }) =>
    trajectories.some((name) => name === '*' || name === use.trajectory),
  );
  const grant = here.find(({ actions }) => actions.some((pattern) => contains(pattern, use.action))) ?? here[0];
  return grant && writOf(root, agent.name, use.trajectory, grant);
}

function writOf(root: KeyPair, subject: string, trajectory: string, grant: ResolvedGrant): Writ {
  const { actions, scopes, budget, requireApproval, maxDepth } = grant;
  return issueWrit(
    {
      issuer: root.publicKey,
      ...{ subject, trajectory, actions, scopes, budget },
      ...DEFAULT_PERIOD,
      require_approval: requireApproval,
      max_depth: maxDepth,
      nonce: `development:${hashText(`${trajectory}\n${subject}`).slice(0, 16)}`,
    },
    root.privateKey,
  );
}
