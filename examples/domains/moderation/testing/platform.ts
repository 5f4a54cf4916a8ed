import type { Domain } from 'assize';
import { Cast, Stage, type Whose, whose } from '../../../../tests/support/ledger/domain-stage.ts';
import {
  type Kind,
  type ModerationActions,
  type ModerationState,
  moderation,
  moderationInitial,
} from '../index.ts';
import type { Account } from '../schema.ts';

export { dayAt } from '../../../../tests/support/ledger/domain-stage.ts';

export interface Whom {
  readonly account?: string;
  readonly case?: string;
  readonly officer?: string;
}

/** A platform on a real runtime. The defaults are Ana, her case c1, and the officer Otto. */
export class Platform extends Cast<ModerationActions, ModerationState, Whom> {
  static async open(
    domain: Domain = moderation,
    initial: ModerationState = moderationInitial(),
  ): Promise<Platform> {
    return new Platform(await Stage.open(domain, initial));
  }

  protected roleOf(action: keyof ModerationActions, whom: Whom): Whose {
    return roleOf(action, whom);
  }

  /** A case of its own content that was found to break the policy. */
  async violating(of: string, whom: Whom = {}): Promise<void> {
    const report = { report: `r-${of}`, content: `post-${of}`, clause: 'spam', reporter: 'rita' };
    await this.done('receive_report', report, whom);
    await this.done('triage', { report: `r-${of}`, case: of }, whom);
    await this.done('assess', { violates: true, rationale: 'it is' }, { ...whom, case: of });
  }

  /** The same, with its strike. */
  async struck(of: string, whom: Whom = {}): Promise<void> {
    await this.violating(of, whom);
    await this.done('issue_strike', { strike: `s-${of}` }, { ...whom, case: of });
  }

  /** The same, answered and told. */
  async answered(of: string, kind: Kind, whom: Whom = {}): Promise<void> {
    await this.struck(of, whom);
    if (kind === 'ban')
      await this.approved('take_action', { case: of, strike: `s-${of}`, kind }, 'mod:mona', whom);
    else await this.done('take_action', { case: of, strike: `s-${of}`, kind }, whom);
    await this.done('notify', { case: of, text: 'you may appeal' }, whom);
  }

  account(name = 'ana'): Account {
    const account = this.state.accounts[name];
    if (account === undefined) throw new Error(`there is no record of ${name}`);
    return account;
  }
}

export function roleOf(action: keyof ModerationActions, whom: Whom = {}): Whose {
  return whose(moderation, action, { account: 'ana', case: 'c1', officer: 'otto', ...whom });
}
