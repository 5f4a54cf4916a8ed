import { AssizeError, type ErrorDetails } from 'assize/internal/base';

export type ServerErrorCode =
  /** The request does not have the documented form. Correct the fields that `findings` names. */
  | 'invalid_request'
  /** The body is not JSON. Send JSON with `Content-Type: application/json`. */
  | 'unsupported_media_type'
  /** The body exceeds a limit of the server. Send less, or raise the limit that the text names. */
  | 'body_too_large'
  /** The request names no principal. Send `Authorization: Bearer TOKEN`, or sign in. */
  | 'unauthenticated'
  /** The browser signed in as another person since the page was loaded. Load the page again. */
  | 'session_changed'
  /** The principal may not use this operation. Ask an administrator. */
  | 'forbidden'
  /** The server has no such operation, or the method is another. See `/openapi.json`. */
  | 'unknown_operation'
  /** The caller has no proposal with that key. Check the key and the trajectory. */
  | 'unknown_proposal'
  /** A grant has too many open delegations. Conclude some first. */
  | 'too_many_delegations'
  /** A configured world is a trajectory that an agent delegated. Give the world another name. */
  | 'delegated_world'
  /** The server has no such value. Check the name. */
  | 'no_such_value'
  /** A proposal needs an idempotency key. Send the header `Idempotency-Key`. */
  | 'idempotency_key_missing'
  /** The value changed since the client read it. Read it again, and repeat the request. */
  | 'precondition_failed'
  /** The principal sends too many requests. Wait for the seconds of `Retry-After`. */
  | 'too_fast'
  /**
   * The server has too many proposals or simulations in progress. Wait for the seconds of
   * `Retry-After`.
   */
  | 'too_busy'
  /**
   * The simulation took longer than its limit. Ask for fewer samples or turns, or raise
   * `limits.seconds` of the simulation.
   */
  | 'simulation_late'
  /**
   * The trajectory has too many entries for a simulation at a server. Use `assize simulate`, in a
   * process of its own.
   */
  | 'trajectory_too_long'
  /** The principal has too many open event streams. Close one. */
  | 'too_many_streams'
  /** The host name is not one of this server. Use the address of `server.publicUrl`. */
  | 'bad_host'
  /** Another site sent the request. Send it from the address of the server. */
  | 'bad_origin'
  /** The server is stopping. Send the request again to another process, or later. */
  | 'stopping'
  /**
   * The request took longer than the limit, and its outcome is unknown. Repeat it with the same
   * idempotency key.
   */
  | 'request_timeout'
  /** The kernel refuses the rules of the file. Correct the rules, and start again. */
  | 'rules_refused'
  /**
   * The client closed the connection before the answer. Repeat the request with the same
   * idempotency key.
   */
  | 'client_left'
  /**
   * A key that the server does not know signed the last checkpoint. Add the public key to the .vkey
   * file beside the store, or remove the checkpoint.
   */
  | 'foreign_checkpoint'
  /** No checkpoint covers the entry yet. Sign one with `POST /v1/checkpoints`, and ask again. */
  | 'not_checkpointed'
  /** Another program listens at the address. Stop it, or set `server.port`. */
  | 'port_in_use'
  /** The address is public, and neither TLS nor a proxy is configured. Configure one of them. */
  | 'public_without_tls'
  /** The issuer of a token does not give its keys. Repeat the request, or check `server.jwt`. */
  | 'issuer_unreachable'
  /** The sign-in failed. Start it again. */
  | 'sign_in_failed';

/** A request that the server refuses, or a server that cannot start. Nothing was done. */
export class ServerError extends AssizeError<ServerErrorCode> {
  override readonly name = 'ServerError';

  constructor(code: ServerErrorCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}
