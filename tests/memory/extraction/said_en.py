"""English messages as people type them, with what each proposes (types, and words it must hold), and those that propose nothing."""

from __future__ import annotations

WORTH_KEEPING: list[tuple[str, list[str]]] = [
    ("remember my dog's name is Biscuit", ["facts|profile Biscuit"]),
    ("pls remember the staging db is on port 5544", ["facts 5544"]),
    ("Note: the quarterly review is on March 3rd", ["facts March 3rd"]),
    ("Make a note: vendor contact is Priya", ["facts Priya"]),
    ("for the record, our fiscal year starts in April", ["facts April"]),
    ("fyi please keep in mind we deploy only on Tuesdays", ["facts|preferences Tuesdays"]),
    ("jot this down: the invoice number is 4471", ["facts 4471"]),
    ("Remember, no deploys on Fridays", ["facts|preferences Fridays"]),
    ("don't forget: the demo is at 3pm Thursday", ["facts 3pm"]),
    ("Write this down - the cluster is in eu-west-1", ["facts eu-west-1"]),
    ("just so you know and remember, Tom owns the billing service", ["facts billing"]),
    ("save this: the wifi network is called Larkspur", ["facts Larkspur"]),
    ("I want you to remember that I have two kids", ["facts|profile two kids"]),
    ("from now on keep answers under 100 words", ["preferences 100 words"]),
    ("Always use type hints in the code you write", ["preferences type hints"]),
    ("never push directly to main", ["preferences main"]),
    ("Going forward, please use British spelling.", ["preferences British"]),
    ("stop using emojis in your replies", ["preferences emojis"]),
    ("please don't ever apologize in your replies", ["preferences apologize"]),
    ("In future replies, skip the intro", ["preferences skip the intro"]),
    ("Whenever you write SQL, use uppercase keywords", ["preferences uppercase"]),
    ("every time you change code, run the linter", ["preferences linter"]),
    ("Don't call me sir anymore, call me Sam", ["preferences sir", "profile Sam"]),
    ("we're going with Postgres", ["decisions Postgres"]),
    ("ok final call: we ship on the 14th", ["decisions 14th"]),
    ("We ended up choosing Kafka over RabbitMQ", ["decisions Kafka"]),
    ("The team agreed on weekly releases", ["decisions weekly"]),
    ("we've settled on Svelte for the frontend", ["decisions Svelte"]),
    ("Decided: monorepo it is", ["decisions monorepo"]),
    ("After a long discussion we picked Terraform", ["decisions Terraform"]),
    ("We're switching from Jenkins to GitHub Actions", ["decisions GitHub Actions"]),
    ("we are dropping support for IE11", ["decisions IE11"]),
    ("It's settled, we use Stripe for payments", ["decisions Stripe"]),
    ("We'll use Redis for sessions", ["decisions Redis"]),
    ("I usually use pytest, not unittest", ["preferences pytest"]),
    ("I like short answers better than long ones", ["preferences short"]),
    ("I'm more of a spaces person than tabs", ["preferences spaces"]),
    ("personally I prefer dark themes", ["preferences dark"]),
    ("I'd prefer bullet points", ["preferences bullet"]),
    ("I always use vim", ["preferences vim"]),
    ("My preferred editor is Helix", ["preferences Helix"]),
    ("I hate verbose commit messages", ["preferences verbose"]),
    ("I'm Dana, a data engineer at Shopify", ["profile data engineer"]),
    ("I'm a nurse in Leeds", ["profile nurse"]),
    ("My birthday's on June 9", ["profile June 9"]),
    ("I just moved to Lisbon", ["profile Lisbon"]),
    ("I'm based in Toronto", ["profile Toronto"]),
    ("my wife's name is Elena", ["profile|facts Elena"]),
    ("I'm vegetarian", ["profile|facts|preferences vegetarian"]),
    ("I'm 34 years old", ["profile 34"]),
    ("I started working at Nvidia last month", ["profile Nvidia"]),
    ("My goal this year is to read 30 books", ["goals 30 books"]),
    ("I'm trying to get fit before September", ["goals get fit"]),
    ("We aim to reach 10k users by December", ["goals 10k users"]),
    ("I want to become a staff engineer by next year", ["goals staff engineer"]),
    ("I still need to renew my passport", ["tasks passport"]),
    ("todo fix flaky login test", ["tasks flaky"]),
    ("I have to send the invoice by Friday", ["tasks invoice"]),
    ("Next step: write the migration", ["tasks migration"]),
    ("remind me to water the plants on Sunday", ["tasks water the plants"]),
    ("That's not right, the limit is 50 not 100", ["facts 50"]),
    ("the port is 8080. wait no, it's 9090", ["facts 9090"]),
    ("Correction: the launch date is May 2", ["facts May 2"]),
    ("I don't work at Meta anymore", ["retract Meta"]),
    ("I no longer use Windows", ["retract Windows"]),
    ("we're not using GraphQL anymore", ["retract GraphQL"]),
    ("please forget what I told you about my salary", ["retract salary"]),
    (
        "hey! long day... anyway, we decided to use Go for the gateway. can you help me with the Dockerfile?",
        ["decisions Go"],
    ),
    (
        "I've been fighting this build all afternoon and nothing works. By the way my name is Ravi and I work at Tesco. Also the logs are below.",
        ["profile Ravi", "profile Tesco"],
    ),
    ("Thanks! And from now on answer in German please.", ["preferences German"]),
    ("I'm not a backend dev, I'm a designer", ["profile designer"]),
    ("Remember: the office closes at 6pm", ["facts 6pm"]),
    ("keep in mind I'm colorblind", ["facts|profile colorblind"]),
    ("please remember to use UTC everywhere", ["preferences|tasks|facts UTC"]),
    ("note that our API limit is 100 rps, remember it", ["facts 100 rps"]),
    ("don't forget I'm on a Mac", ["facts|profile|preferences Mac"]),
    ("from here on, no emojis", ["preferences emojis"]),
    ("Always answer with code first", ["preferences code first"]),
    ("Please never use semicolons in my JS", ["preferences semicolons"]),
    ("Please be brief from now on", ["preferences brief"]),
    ("I want all your answers in French", ["preferences French"]),
    ("You should always cite sources", ["preferences cite sources"]),
    ("We chose MongoDB", ["decisions MongoDB"]),
    ("we decided against microservices", ["decisions microservices"]),
    ("Let's use Tailwind then", ["decisions Tailwind"]),
    ("The decision is to launch in May", ["decisions May"]),
    ("we agreed to freeze the API on Friday", ["decisions freeze the API"]),
    ("I've decided to go with the blue logo", ["decisions blue logo"]),
    ("I prefer async communication", ["preferences async"]),
    ("I'd rather use REST than GraphQL", ["preferences REST"]),
    ("I really like concise answers", ["preferences concise"]),
    ("I don't like long explanations", ["preferences long explanations"]),
    ("I use zsh", ["preferences|facts zsh"]),
    ("I typically code in Rust", ["preferences Rust"]),
    ("I'm a product manager at Stripe", ["profile product manager"]),
    ("My name's Olu", ["profile Olu"]),
    ("I live in Nairobi with my family", ["profile Nairobi"]),
    ("My timezone is CET", ["profile CET"]),
    ("I have a dog named Max", ["profile|facts Max"]),
    ("I speak Spanish and English", ["profile|facts Spanish"]),
    ("I'm a student at MIT", ["profile student"]),
    ("I'm from Ghana", ["profile Ghana"]),
    ("you can call me Jo", ["profile Jo"]),
    ("our goal is to cut costs by 20%", ["goals costs"]),
    ("I want to run a marathon by next spring", ["goals marathon"]),
    ("I plan to launch my startup this year", ["goals startup"]),
    ("I need to call the bank tomorrow", ["tasks bank"]),
    ("we must rotate the keys this week", ["tasks rotate"]),
    ("don't let me forget to email Kim", ["tasks email Kim"]),
    ("I've got to finish the slides tonight", ["tasks slides"]),
    ("we need to migrate the db before June", ["tasks migrate"]),
    ("no, the deadline is July 1, not June 1", ["facts July 1"]),
    ("Actually my name is Kris with a K", ["profile|facts Kris"]),
    ("I don't live in Paris anymore", ["retract Paris"]),
    ("we stopped using Jenkins", ["retract Jenkins"]),
    ("forget my address", ["retract address"]),
    ("scratch that, the budget is 10k", ["facts 10k"]),
    ("remember I hate meetings before 10am", ["facts|preferences 10am"]),
    ("can you keep in mind that our users are mostly on mobile?", ["facts mobile"]),
    ("From now on write all examples in Kotlin", ["preferences Kotlin"]),
    ("don't ever use tables in your answers", ["preferences tables"]),
    ("we finally settled on AWS", ["decisions AWS"]),
    ("We've agreed that the API will be REST", ["decisions REST"]),
    ("Decision: ship without dark mode", ["decisions dark mode"]),
    ("we've switched from npm to pnpm", ["decisions pnpm"]),
    ("I love short replies", ["preferences short"]),
    ("I mostly use Firefox", ["preferences Firefox"]),
    ("I am a teacher from Ohio", ["profile teacher"]),
    ("I'm Priya, an accountant at Deloitte", ["profile Priya"]),
    ("I recently moved to Austin, Texas", ["profile Austin"]),
    ("my daughter's name is Zoe", ["profile|facts Zoe"]),
    ("my long-term goal is financial independence", ["goals financial independence"]),
    ("I hope to publish a book by 2027", ["goals publish a book"]),
    ("I need to book flights", ["tasks book flights"]),
    ("Todo: renew the domain", ["tasks renew the domain"]),
    ("Sorry, that's wrong. The server is in Paris.", ["facts Paris"]),
    ("I no longer work for Oracle", ["retract Oracle"]),
    ("we don't use Slack anymore", ["retract Slack"]),
    ("forget that I'm vegan", ["retract vegan"]),
]

# Beside the open tasks of test_spoken.
STATUS: list[tuple[str, list[str]]] = [
    ("login page is done!", ["done task:web:login"]),
    ("finally finished the login page 🎉", ["done task:web:login"]),
    ("just merged the login page", ["done task:web:login"]),
    ("the docs are written", ["done task:web:docs"]),
    ("got the login page working and deployed", ["done task:web:login"]),
    ("docs: complete", ["done task:web:docs"]),
    ("I can't continue the login page until legal signs off", ["blocked task:web:login"]),
    ("the login page is waiting on design", ["blocked task:web:login"]),
    ("still stuck on the docs", ["blocked task:web:docs"]),
    ("the login page is almost done", []),
    ("when the docs are done, ping me", []),
    ("lunch is done", []),
    ("The docs are finished, finally", ["done task:web:docs"]),
    ("we've completed the login page", ["done task:web:login"]),
    ("login page shipped!", ["done task:web:login"]),
    ("I'm stuck on the login page", ["blocked task:web:login"]),
    ("the docs are on hold", ["blocked task:web:docs"]),
    ("docs are half done", []),
    ("will the login page be done soon?", []),
    ("docs shipped.", ["done task:web:docs"]),
    ("The login page has been merged", ["done task:web:login"]),
    ("the docs aren't merged", []),
]

# One a line.
NOT_WORTH_KEEPING = """\
hey there
good morning!
lol that's hilarious
thanks so much
ok cool
brb
ugh, Mondays
I'm exhausted
this bug is killing me
I love this song
I hate this code
I like it
do you remember my name?
what did we decide about the database?
should I use Redis?
Could we go with Postgres?
what's my goal again?
If we decided on Mongo, what breaks?
suppose I work at Google
maybe we should use Rust
I wonder if we need to refactor
He said we decided to use Java
My boss told me we're going with Oracle
The book says "always remember to breathe"
translate: 'I prefer tea over coffee'
write a function that remembers values
explain what 'from now on' means
run the tests
delete line 3
make it blue
use a for loop here
don't remember that
no need to remember this
never mind
we haven't decided yet
I didn't say I prefer tabs
just kidding, my name is Batman
I need coffee
I need your help
I have to go
I want to ask a question
I'm trying to understand this error
I want to know why it fails
my password is hunter2, remember it
remember the good old days
I remember learning Pascal
I always forget this
I'm a mess today
I'm just tired
always a pleasure
never gonna give you up
Note the second line of the output
stop
every time I run it, it crashes
save this file
write this down in the README
I'm in a meeting
I usually sleep late
we're going out
I'm trying to sleep
> remember to use tabs
how do I use Vim?
we picked up some pizza
I'm more tired than yesterday
Whenever I open it, it freezes
are we using GraphQL?
how's it going
nice work!
I'm bored
this is so annoying
I can't believe it broke again
which one do you prefer?
do we need to migrate?
what would you use?
if I were called Bob, would it matter?
assume my name is X
let's say we decided on Go
she works at Google
they decided to use PHP
the docs say you must always call close()
convert this to TypeScript
use tabs here
rename it to foo
switch to the other branch
we're switching seats
I joined the call late
I'm a fan
I'm a little confused
I'm lost
I'm done
it's done
we're done here
I like pizza
I love you
don't forget me
always look on the bright side
from now on it's downhill
forget it
I was wrong about you
no worries
I want to sleep
I need a minute
I'm trying my best this year
my name is on the list
my dog is sick
I'm 5 minutes late
I'm here, a bit late
final answer: 42
the build is waiting for a runner
I'm always tired
I usually wake up at 7
stop saying that
I use it every day
I use this a lot
I use my phone
we use what works
I have a dog
I have two questions
I have one problem
I speak too fast
I want your help
I want your opinion on this
I'd like your code review
I'm blind to this
note: this is untested
Note the typo
reminder: what time is it?
save this: no
decided yet?
settled, thanks
we picked a bad day
we selected the wrong row
we're dropping by later
we're adopting a cat
I'm planning to sleep this weekend
I hope you're well this year
every time you answer, you ignore me
when you run it, it fails
stop it
stop using my time
no, the problem is you
wait, no
oh, it's fine
just fixed it
already sent
got it working
the login page is waiting for you
I can't finish this
I always use too much salt
I only write on weekends
I'm Tired, a bit
my cat is called crazy by everyone
my boss's name is irrelevant
I'm going to switch tabs
never say never
you should always smile
the meeting moved to Friday?
he joined Google
I joined this channel
We should add rate limiting before launch
sorry, I meant Thursday
plan is final: we launch Monday
dark mode is my favorite
It's not Tuesday, it's Wednesday
""".splitlines()
