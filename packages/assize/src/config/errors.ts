import { AssizeError } from '#base';

export type ConfigErrorCode =
  /**
   * The named config file does not exist, or can't be read. Pass another file, or create one with
   * `assize init`. Evidence `{file}`.
   */
  | 'config_not_found'
  /**
   * A folder has several config files, and no rule orders them. Remove all but one, or name one
   * with `--config`. Evidence `{files}`.
   */
  | 'ambiguous_config'
  /**
   * The config file threw when it was loaded, or has no default export. Correct the file: `export
   * default defineConfig({…})`. Evidence `{file}`.
   */
  | 'unloadable_config'
  /**
   * A config file in a folder above belongs to another user, and would run as code. Check the file,
   * and name it with `--config`. Evidence `{file}`.
   */
  | 'foreign_config'
  /**
   * The root key is not 64 hex digits, or two keys are set. Correct the file or the variable that
   * the message names. Evidence `{source}`.
   */
  | 'bad_root_key'
  /**
   * Other users could read or replace the file of the root key. Make it a regular file of this user
   * with mode 600, and change the key if others may know it. Evidence `{file}`.
   */
  | 'unsafe_root_key'
  /**
   * The file of the root key cannot be created: its folder does not exist, or this user may not
   * write there. Choose another folder for the store, or set ASSIZE_ROOT_KEY_FILE. Evidence
   * `{file}`.
   */
  | 'root_key_unwritable'
  /**
   * The file of trusted root keys beside the store is not a JSON list of public keys. Correct or
   * remove the file. Evidence `{file}`.
   */
  | 'bad_anchors'
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
