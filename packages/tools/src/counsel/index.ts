/**
 * A human as a tool that chooses the branch that a transaction continues with.
 * Guarantees: the commit records the question, the answer and its author as an observation. An
 * answer that names a missing or failed branch is refused. A question waits no longer than its
 * deadline or its transaction.
 * Never: verifies the identity of the human. Never keeps a question across a crash, because the
 * transaction is aborted by then. `Approvals.approve` records an approval that outlives the
 * process, in which a counselor approves the whole proposal.
 */
export {
  type CounselToolOptions,
  chooseByCounsel,
  counselTool,
  type QuestionPort,
} from './counsel-tool.ts';
export { CounselDesk, type OpenQuestion } from './desk.ts';
export type { BranchSummary, CounselAnswer, CounselQuestion } from './question.ts';
