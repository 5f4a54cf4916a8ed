import { AssizeError } from '#base';

export type ConfigErrorCode =
  /**
   * A simulation of the config cannot run: its variants, agents or simulators are not valid.
   * Correct the config. Evidence `{simulation}`.
   */
  | 'bad_simulation'
  /**
   * A grant that the config no longer has could not be revoked in a trajectory. Revoke its writ
   * with `assize writ revoke`. Evidence `{trajectory_id, writ_id}`.
   */
  | 'grant_not_revoked'
  /**
   * An agent, or the one whose part of a grant it holds, is stopped or paused in this store. An
   * admin resumes it with `assize agents resume`: after a stop, another person approves that.
   * Evidence `{principal, is}`.
   */
  | 'agent_stopped';

/** A config or a root key that can't be used. Nothing was opened or written. */
export class ConfigError extends AssizeError<ConfigErrorCode> {
  override readonly name = 'ConfigError';
}
