/**
 * The configuration of a project: `assize.config.ts`, read by every command and by the server.
 *
 * Guarantees: an unknown or invalid member is refused with its path. Never: opens a store or a
 * connection.
 */

export type {
  AssizeConfig,
  Grant,
  JwtConfig,
  LimitsConfig,
  MailConfig,
  MappedPrincipal,
  NoticesConfig,
  OidcConfig,
  PrincipalConfig,
  PrincipalKind,
  ServerConfig,
  WebhookConfig,
  WorldConfig,
} from './config.ts';
