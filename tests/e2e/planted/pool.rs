// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Clients ask a pool of threads, which take turns to wait for the next question with a lock, as the one of Rust's book
// does. With "table" a worker holds a lock of all while it sleeps; without, it only counts.
use std::collections::HashMap;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

type Question = (u64, Sender<u64>);

fn compute(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {}
}

fn put_in_table(table: &RwLock<HashMap<u64, u64>>, id: u64, slow: bool) {
    let mut all = table.write().unwrap();
    if slow {
        thread::sleep(Duration::from_millis(3));
    }
    all.insert(id % 100, id);
}

fn work(questions: &Mutex<Receiver<Question>>, table: &RwLock<HashMap<u64, u64>>, slow: bool) {
    loop {
        let question = questions.lock().unwrap().recv();
        let (id, back) = match question {
            Ok(question) => question,
            Err(_) => return,
        };
        compute(Duration::from_micros(100));
        put_in_table(table, id, slow);
        let _ = back.send(id);
    }
}

fn ask(questions: Sender<Question>, answers: &(Mutex<u64>, Condvar), first: u64) {
    for id in first.. {
        let (back, answer) = channel();
        questions.send((id, back)).unwrap();
        answer.recv().unwrap();
        *answers.0.lock().unwrap() += 1;
        answers.1.notify_one();
        thread::sleep(Duration::from_micros(500));
    }
}

fn main() {
    let slow = std::env::args().nth(1).as_deref() == Some("table") && std::env::args().len() < 4;
    let (send, receive) = channel::<Question>();
    let questions = Arc::new(Mutex::new(receive));
    let table = Arc::new(RwLock::new(HashMap::new()));
    let answers = Arc::new((Mutex::new(0), Condvar::new()));
    for _ in 0..4 {
        let (questions, table) = (questions.clone(), table.clone());
        let worker = thread::Builder::new().name("worker".to_string());
        worker.spawn(move || work(&questions, &table, slow)).unwrap();
    }
    for client in 0..4 {
        let (send, answers) = (send.clone(), answers.clone());
        thread::spawn(move || ask(send, &answers, client * 1_000_000));
    }
    thread::spawn(|| loop {
        thread::park_timeout(Duration::from_millis(100));
    });
    println!("ready");
    let mut n = answers.0.lock().unwrap();
    loop {
        n = answers.1.wait_timeout(n, Duration::from_millis(50)).unwrap().0;
    }
}
