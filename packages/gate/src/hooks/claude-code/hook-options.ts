/** How the server answers one installation of the hooks. */
export interface HookOptions {
  /** How long a question waits for a person. */
  readonly waitMs: number;
  /** The answer before a decision: a refusal, or a run that stops until it is resumed. */
  readonly pending: 'deny' | 'defer';
  /** The calls that the person at the terminal confirms too, after the rules let them through. */
  readonly confirm: 'never' | 'irreversible' | 'changes' | 'always';
  /** The address of the inbox of the console. */
  readonly inboxUrl: string;
}
