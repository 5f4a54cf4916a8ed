/** How the server answers the hooks of Codex. */
export interface HookOptions {
  /** How long a question waits for a person. */
  readonly waitMs: number;
  /** The address of the inbox of the console. */
  readonly inboxUrl: string;
}

/** The name of the program, as sessions have it. */
export const CODEX = 'Codex';
