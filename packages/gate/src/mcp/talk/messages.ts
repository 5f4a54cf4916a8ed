import type { LoggingMessageNotificationParams, Progress } from '@modelcontextprotocol/server';
import { visible, visibleDeep } from '../upstream/definitions.ts';

/** The most characters of a log message, and of a text of progress. */
const LOG_MAX = 8_192;
const PROGRESS_MAX = 1_000;

/** A log message as a client gets it. A long one is replaced by its size. */
export function shownLog({
  level,
  data,
  logger,
}: LoggingMessageNotificationParams): LoggingMessageNotificationParams {
  const size = JSON.stringify(data ?? null).length;
  const shown = size > LOG_MAX ? `A log message of ${size} characters is left out.` : data;
  return {
    level,
    data: visibleDeep(shown),
    ...(logger !== undefined && { logger: visible(logger.slice(0, 200)) }),
  };
}

/** A sign of progress as a client gets it. */
export function shownProgress({ progress, total, message }: Progress): Progress {
  return {
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message: visible(message.slice(0, PROGRESS_MAX)) }),
  };
}
