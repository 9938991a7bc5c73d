"""Ghost makes its schema; posts with tags and members with labels are written, found, changed, counted and shown."""

import sys
from urllib.parse import quote, urlsplit

from rest import Site, free_port, started

url, scratch, place = sys.argv[1:]
server = urlsplit(url)
port = free_port()
site = Site(f"http://127.0.0.1:{port}")
site.headers["Accept-Version"] = "v5.130"
environment = {
    "NODE_ENV": "production",
    "database__client": "mysql",
    "database__connection__host": str(server.hostname),
    "database__connection__port": str(server.port),
    "database__connection__user": str(server.username),
    "database__connection__password": "",
    "database__connection__database": server.path[1:],
    "url": site.url,
    "server__host": "127.0.0.1",
    "server__port": str(port),
    "mail__transport": "Direct",
    "logging__transports": '["stdout"]',
    "privacy__useUpdateCheck": "false",
}


def ask(method, path, body=None, **query):
    return site.ask(method, "/ghost/api/admin" + path, body, **query)


def posts(**query):
    answer = ask("GET", "/posts/", **query)
    return [post["title"] for post in answer["posts"]]


def write():
    made = []
    for i in range(12):
        post = {
            "title": f"Post {i}",
            "html": f"<p>Hello {i} 😀</p>",
            "status": "published" if i % 3 else "draft",
            "tags": [{"name": f"Tag {i % 4}"}, {"name": "All"}],
            "featured": i % 2 == 0,
            "published_at": f"2024-01-{i + 1:02}T10:00:00.000Z",
        }
        made.append(ask("POST", "/posts/", {"posts": [post]}, source="html")["posts"][0])
    for i in range(6):
        ask("POST", "/members/", {"members": [{"email": f"m{i}@example.com", "labels": [{"name": f"L{i % 2}"}]}]})
    return made


def read():
    assert posts(filter="tag:tag-1+status:published", order="published_at desc") == ["Post 5", "Post 1"]
    assert posts(filter="title:~'Post 1'", limit="all", order="published_at desc") == ["Post 11", "Post 10", "Post 1"]
    assert posts(filter="featured:true+published_at:>'2024-01-06'", order="published_at asc") == [
        "Post 6",
        "Post 8",
        "Post 10",
    ]
    assert posts(filter="tags:[tag-2,tag-3]+tags:-tag-3", order="published_at asc") == ["Post 2", "Post 6", "Post 10"]
    tags = ask("GET", "/tags/", include="count.posts", limit="all", order="name asc")["tags"]
    assert [(tag["name"], tag["count"]["posts"]) for tag in tags] == [
        ("All", 12),
        ("News", 1),
        *((f"Tag {i}", 3) for i in range(4)),
    ]
    labelled = ask("GET", "/members/", filter="label:l1", order="email desc", include="labels")["members"]
    assert [member["email"] for member in labelled] == ["m5@example.com", "m3@example.com", "m1@example.com"]
    assert [member["email"] for member in ask("GET", "/members/", search="m3")["members"]] == ["m3@example.com"]
    assert ask("GET", "/stats/member_count/")["stats"][-1]["free"] == 6
    assert ask("GET", "/stats/referrers/")["stats"][0]["signups"] == 6
    assert site.ask("GET", "/rss/").count("<item>") == 9
    assert "Hello 4" in site.ask("GET", "/post-4/")


def change(made):
    one = ask("GET", f"/posts/{made[1]['id']}/")["posts"][0]
    path = f"/posts/{one['id']}/"
    new = ask("PUT", path, {"posts": [{"title": "Changed", "updated_at": one["updated_at"]}]})["posts"][0]
    assert new["title"] == "Changed"
    ask("PUT", path, {"posts": [{"title": "Again", "updated_at": "2020-01-01T00:00:00.000Z"}]}, status=409)
    ask("POST", "/members/", {"members": [{"email": "m1@example.com"}]}, status=422)
    ask("DELETE", f"/posts/{made[2]['id']}/")
    drafts = quote("status:draft")
    add = {"bulk": {"action": "addTag", "meta": {"tags": [{"name": "Bulk"}]}}}
    assert ask("PUT", f"/posts/bulk/?filter={drafts}", add)["bulk"]["meta"]["stats"]["successful"] == 4
    assert len(posts(filter="tag:bulk", limit="all")) == 4
    ask("DELETE", f"/posts/?filter={drafts}")


if __name__ == "__main__":
    with started(["node", "index.js"], place, environment, site, "/ghost/api/admin/site/"):
        owner = {"name": "Ann", "email": "ann@example.com", "password": "a long secret", "blogTitle": "Blog"}
        ask("POST", "/authentication/setup/", {"setup": [owner]})
        ask("POST", "/session/", {"username": owner["email"], "password": owner["password"]})
        made = write()
        read()
        change(made)
        print(f"{len(posts(limit='all'))} posts left")
