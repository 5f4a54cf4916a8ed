import { Alert, Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { isUnanswered, NoAnswerError, NotSentError } from '../../api/problem.ts';
import { useIsConnected } from '../../app/live.tsx';

interface ErrorProps {
  readonly error: Error | null;
  readonly forget: () => void;
}

/** A decision that failed. One without an answer is forgotten when the connection is back. */
export function DecisionError({ error, forget }: ErrorProps) {
  const isConnected = useIsConnected();
  const wasConnected = useRef(isConnected);
  useEffect(() => {
    const isBack = isConnected && !wasConnected.current;
    wasConnected.current = isConnected;
    const isOver = [NotSentError, NoAnswerError].some((kind) => error instanceof kind);
    if (isBack && (isUnanswered(error) || isOver)) forget();
  }, [isConnected, error, forget]);
  const queries = useQueryClient();
  const check = () => {
    forget();
    void queries.invalidateQueries();
  };
  if (error === null) return null;
  return (
    <Alert color="red" mt="xs" role="alert">
      {isUnanswered(error)
        ? 'The server does not answer. Your decision was not confirmed; press again, it counts once.'
        : error.message}
      {error instanceof NoAnswerError && (
        <Button mt="xs" size="xs" variant="default" onClick={check}>
          Check
        </Button>
      )}
    </Alert>
  );
}
