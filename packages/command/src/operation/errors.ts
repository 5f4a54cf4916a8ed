import { AssizeError, type ErrorDetails, type GeneralCode } from 'assize/internal/base';

export type ServerErrorCode =
  /** The request does not have the documented form. Correct the fields that `findings` names. */
  | 'invalid_request'
  /** The body is not JSON. Send JSON with `Content-Type: application/json`. */
  | 'unsupported_media_type'
  /** The browser signed in as another person since the page was loaded. Load the page again. */
  | 'session_changed'
  /** The server has no such operation, or the method is another. See `/openapi.json`. */
  | 'unknown_operation'
  /** The value changed since the client read it. Read it again, and repeat the request. */
  | 'precondition_failed'
  /** The principal sends too many requests. Wait for the seconds of `Retry-After`. */
  | 'too_fast'
  /**
   * The server has too many proposals or simulations in progress. Wait for the seconds of
   * `Retry-After`.
   */
  | 'too_busy'
  /** Too many delegations or event streams are open. Conclude or close one first. */
  | 'too_many_open'
  /**
   * The simulation took longer than its limit. Ask for fewer samples or turns, or raise
   * `limits.seconds` of the simulation.
   */
  | 'simulation_late'
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
  /**
   * The client closed the connection before the answer. Repeat the request with the same
   * idempotency key.
   */
  | 'client_left'
  /** The issuer of a token does not give its keys. Repeat the request, or check `server.jwt`. */
  | 'issuer_unreachable'
  /** The sign-in failed. Start it again. */
  | 'sign_in_failed';

/** A request that the server refuses, or a server that cannot start. Nothing was done. */
export class ServerError extends AssizeError<ServerErrorCode> {
  override readonly name = 'ServerError';

  constructor(code: ServerErrorCode | GeneralCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}
