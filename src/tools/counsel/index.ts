/**
 * A person as a tool: asked which branch of a transaction it shall be.
 *
 * Guarantees: what they were asked, what they said and who they are stand in the commit, as an observation; one that chooses nothing there
 * is, or a branch that failed, is not taken; nobody waits longer than the deadline, nor than the transaction.
 *
 * Never: knows whether somebody is who they say they are; keeps a question across a crash, as what asked it is undone by then. An
 * approval that outlives the process, in which a counselor rules on the whole proposal, is `Trajectory.approve`.
 */
export {
  type Asker,
  type CounselToolOptions,
  chooseByCounsel,
  counselTool,
} from './counsel-tool.ts';
export { CounselDesk, type OpenQuestion } from './desk.ts';
export type { BranchSummary, CounselAnswer, CounselQuestion } from './question.ts';
