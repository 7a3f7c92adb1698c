import re,sys
def load(v,f): return open(f'dist-{v}/internal/token/{f}').read()
def save(v,f,s): open(f'dist-{v}/internal/token/{f}','w').write(s)
lean='''const refreshIfStale = (tokens) => Effect.clockWith((clock) => Effect.flatMap(currentOrNone(tokens), (current) => {
    const token = Option.getOrUndefined(current);
    if (token === undefined || !isScheduled(token)) return Effect.succeed(longestPause);
    const pause = pauseOf(tokens.policy, token);
    const state = AccessToken.stateAt(token, clock.unsafeCurrentTimeMillis(), tokens.policy);
    return state === "fresh" ? Effect.succeed(pause) : Effect.as(refresh(tokens, token), pause);
}));
'''
for v in ['v1','v2','v3']:
    s=load(v,'provider.js')
    s=re.sub(r'const refreshIfStale = .*?\n\}\);\n',lambda m:lean,s,flags=re.S)
    if v=='v1': s=s.replace('Effect.forever(Effect.flatMap(refreshIfStale(tokens), untilNextCheck))','Effect.repeat(refreshIfStale(tokens), checks)').replace('import { longestPause','import { checks, longestPause')
    if v=='v3': s=s.replace('Effect.forever(Effect.flatMap(refreshIfStale(tokens), untilNextCheck))','(() => { const loop = Effect.flatMap(Effect.flatMap(refreshIfStale(tokens), untilNextCheck), () => loop); return loop })()')
    save(v,'provider.js',s)
s=load('v3','delays.js')
i=s.index('export const untilNextCheck'); j=s.index('/**',i)
s=s[:i]+'''export const untilNextCheck = (pause) => Effect.clockWith((clock) => Effect.flatMap(Random.next, (random) => clock.sleep(Duration.millis(untilCheck(pause, clock.unsafeCurrentTimeMillis(), random)))));
'''+s[j:]
save('v3','delays.js',s)
