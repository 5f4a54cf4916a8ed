/**
 * The configuration of a project: `assize.config.ts`, read by every command and by the server. Also
 * the root key of a store, and the shortest way to one trajectory.
 *
 * Guarantees: an unknown or invalid member is refused with its path. A root key that other users
 * could read or replace is refused. Of several processes that create a key or a trajectory, all get
 * the same one.
 *
 * Never: prints a secret, or creates a key for a store that other machines use.
 */

export { anchorRoot, anchorsFile } from './anchors-file.ts';
export { checkNames } from './check/check-names.ts';
export type {
  AssizeConfig,
  Grant,
  JwtConfig,
  LimitsConfig,
  MailConfig,
  MappedPrincipal,
  McpConfig,
  McpServerConfig,
  MemoryConfig,
  NoticesConfig,
  OidcConfig,
  PrincipalConfig,
  PrincipalKind,
  ServerConfig,
  SlackConfig,
  WebhookConfig,
  WitnessConfig,
  WorldConfig,
} from './config.ts';
export {
  AssizeWorld,
  type CreateAssizeOptions,
  createAssize,
  recoveryKeyOf,
  type WorldProposal,
} from './create-assize.ts';
export {
  DEFAULT_AGENT,
  DEFAULT_PERIOD,
  type DefaultWritTerms,
  defaultWrit,
} from './default-writ.ts';
export { defineConfig } from './define-config.ts';
export type { Deployment, DeploymentHost } from './deployment.ts';
export type { Environment } from './environment.ts';
export { ConfigError, type ConfigErrorCode } from './errors.ts';
export { CONFIG_FILES, findConfig } from './find-config.ts';
export { type AgentStop, AgentStops } from './grants/agent-stops.ts';
export { AGENTS, type AgentsState, agentsDomain } from './grants/agents-domain.ts';
export { type AgentChange, changeAgent } from './grants/change-agent.ts';
export {
  type GrantedAgent,
  GrantIssuer,
  type GrantIssuerOptions,
  INCIDENTS,
  type PartTerms,
  windowOf,
} from './grants/grant-issuer.ts';
export { type WithdrawOptions, withdrawGrants } from './grants/withdraw-grants.ts';
export { importFile, whyNotLoaded } from './import-file.ts';
export { type LoadOptions, loadConfig } from './load-config.ts';
export { derivedLogKey } from './log-key.ts';
export {
  type ConfigSources,
  DEFAULT_STORE,
  mappedPrincipal,
  type ResolvedConfig,
  type ResolvedGrant,
  type ResolvedPrincipal,
  type ResolvedServer,
  type ResolvedSimulation,
  resolveConfig,
} from './resolved-config.ts';
export { findRootKey, type RootKey, rootKeyFile, rootKeyOf } from './root-key.ts';
export { runtimeServices } from './runtime-services.ts';
export type {
  MakeVariants,
  SimulatedAgent,
  SimulatedVariant,
  SimulationBounds,
  SimulationConfig,
} from './simulation-config.ts';
