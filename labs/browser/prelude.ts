/**
 * Runs in every page and frame before the page's own scripts. Some requests reach no gate: requests
 * sent while leaving, from a shared worker, or over the page's own connection. The script therefore
 * suppresses the leave events, and removes the interfaces that send after unload or connect past a
 * gate. A page has no other reference to these interfaces, and a page that tests for them continues
 * without them.
 */
export const PRELUDE = `{
  for (const event of ['beforeunload', 'pagehide', 'unload', 'visibilitychange', 'freeze'])
    addEventListener(event, (told) => told.stopImmediatePropagation(), true);
  Navigator.prototype.sendBeacon = () => false;
  const send = window.fetch;
  window.fetch = (input, init) => send(new Request(input, { ...init, keepalive: false }));
  for (const name of ['SharedWorker', 'fetchLater', 'RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport'])
    delete window[name];
  const withoutRules = (node) => {
    const scripts = node.localName === 'script' ? [node] : (node.querySelectorAll?.('script') ?? []);
    for (const script of scripts) if (/^\\s*speculationrules\\s*$/i.test(script.type)) script.remove();
  };
  // Rules are heeded a moment after they were read, and this hears of them in between.
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(withoutRules);
  }).observe(document, { childList: true, subtree: true });
}`;

/** Headers of a document that make a browser send requests of its own, past the gate. */
export const HEADERS_LEFT_OUT: ReadonlySet<string> = new Set([
  'speculation-rules',
  'reporting-endpoints',
  'report-to',
  'nel',
]);
